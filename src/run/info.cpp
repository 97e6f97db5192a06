#include "run/info.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "cipher/job.hpp"
#include "files/conflicts.hpp"
#include "format/format.hpp"
#include "format/parts/directory.hpp"
#include "format/parts/frames.hpp"
#include "format/sessions.hpp"
#include "io/armor.hpp"
#include "run/endpoints.hpp"
#include "run/inputs.hpp"
#include "terminal/context.hpp"

namespace gpuaes {
namespace {

// Sizes derived from the size of an input. None are set if that is unknown.
struct Sizes {
  std::optional<std::uint64_t> input;
  std::optional<std::uint64_t> parts;       // those present as a whole, if the input is truncated
  std::optional<std::uint64_t> segments;    // including the last, short ones
  std::optional<std::uint64_t> plaintext;   // not set if the input is truncated
  std::optional<std::uint64_t> index_at{};  // offset of the index after parts
};

struct Info {
  const Format* format;
  bool armored;
  Description description;
  std::uint64_t header_bytes;
  Sizes sizes;

  bool truncated() const { return !sizes.plaintext; }  // if the size of the input is known
  std::uint64_t overhead() const { return *sizes.input - *sizes.plaintext; }
  double overhead_percent() const {
    return 100 * static_cast<double>(overhead()) / static_cast<double>(*sizes.plaintext);
  }
};

// Without the key, truncation can be detected only at the end of a segment, within the tag of the last one,
// or where a last segment would be empty that must not be.
Sizes sizes_of(std::uint64_t input, std::uint64_t header_bytes, const std::optional<SegmentRules>& rules) {
  const std::uint64_t body = input - header_bytes;
  if (!rules) return {input, {}, {}, body};
  const std::uint64_t whole = body / rules->sealed_bytes(), rest = body % rules->sealed_bytes();
  if (rest == 0 && whole > 0 && rules->last_may_be_full())
    return {input, {}, whole, whole * rules->plain_bytes};
  const bool lacks_plaintext = rest == tag_bytes && whole > 0 && rules->last_may_be_full();
  if (rest < tag_bytes || lacks_plaintext) return {input, {}, whole, {}};
  return {input, {}, whole + 1, whole * rules->plain_bytes + rest - tag_bytes};
}

Sizes sizes_of_parts(const Source& source, std::uint64_t input, std::uint64_t header_bytes, Cipher cipher) {
  const PartsLayout layout = read_parts_layout(source, header_bytes, input, cipher);
  if (!layout.complete) return {input, layout.parts, layout.segments, {}};
  const std::uint64_t index_bytes = frame_header_bytes + sealed_size(layout.parts * index_entry_bytes);
  return {input, layout.parts, layout.segments, layout.plaintext, input - part_count_bytes - index_bytes};
}

Sizes sizes_of_directory(const PartsDirectory& input, std::uint64_t head_bytes) {
  Sizes sizes{.input = head_bytes + input.index.size().value_or(0),
              .parts = read_count(input.index),
              .segments = 0,
              .plaintext = 0};
  for (std::uint32_t number = 0; number < *sizes.parts; ++number) {
    const std::optional<struct stat> status = input.directory.status_of(part_name(number));
    const std::uint64_t size = status ? static_cast<std::uint64_t>(status->st_size) : 0;
    if (size < frame_header_bytes + sealed_size(0))
      throw AuthError(fmt::format("{} is missing or truncated", input.directory.name_of(part_name(number))));
    *sizes.input += size;
    *sizes.segments += (size - frame_header_bytes) / sealed_segment_bytes + 1;
    *sizes.plaintext += opened_size(size - frame_header_bytes);
  }
  return sizes;
}

// Without the sizes.
Info read_header(FdSource& source, const Format* named) {
  OpenedInput input(source, nullptr, named);
  const Format& format = named != nullptr ? *named : input.format(detect_format);
  Description description = format.describe(input.header);
  return {&format, input.is_armored(), std::move(description), input.header.taken(), {}};
}

Info read_info(const InputRequest& request, const Format* named, const Context& context) {
  auto [source, directory] = open_input_file(request, true, context.cancel);
  const std::optional<std::uint64_t> size = source.size();
  note_if_terminal(source, context.messages);
  Info info = read_header(source, named);
  if (directory)
    info.sizes = sizes_of_directory(*directory, size.value_or(0));
  else if (size && !info.armored &&
           *size >= info.header_bytes)  // files in /sys may be longer than their st_size
    info.sizes = info.description.in_parts
                     ? sizes_of_parts(source, *size, info.header_bytes, info.description.cipher.value())
                     : sizes_of(*size, info.header_bytes, info.description.segments);
  return info;
}

// As text -----------------------------------------------------------------------------------------

std::string format_text(const Info& info) {
  const auto& version = info.description.version;
  return version ? fmt::format("{}, version {}", info.format->name, *version)
                 : std::string(info.format->name);
}

std::string cipher_text(const Info& info) {
  if (info.description.cipher) return std::string(gpuaes::info(*info.description.cipher).name);
  if (!info.description.cipher_rule.empty()) return std::string(info.description.cipher_rule);
  return "not stated in the input";
}

std::string slot_text(const SlotDescription& slot) {
  if (!slot.fingerprint.empty()) return fmt::format("{}, fingerprint {}...", slot.kind, slot.fingerprint);
  if (!slot.scrypt) return slot.kind;
  const std::string with =
      fmt::format(" with N = 2^{}, r = {}, p = {}", slot.scrypt->log2_n, slot.scrypt->r, slot.scrypt->p);
  return slot.kind + (slot.kind == "scrypt" ? "" : ", scrypt") + with;
}

void append_line(std::string& text, std::string_view name, const std::string& value) {
  text += fmt::format("{:<15}{}\n", name, value);
}

void append_sizes(std::string& text, const Info& info) {
  if (!info.sizes.input)
    return append_line(text, "size",
                       fmt::format("unknown; the input is {}", info.armored ? "armored" : "not a file"));
  append_line(text, "size", fmt::format("{} bytes", *info.sizes.input));
  if (info.truncated() && info.sizes.parts)
    return append_line(
        text, "parts",
        fmt::format("{}, and the rest is missing: the input is truncated or damaged", *info.sizes.parts));
  if (info.truncated())
    return append_line(
        text, "segments",
        fmt::format("{}, and the last one is missing: the input is truncated", *info.sizes.segments));
  if (info.sizes.parts) append_line(text, "parts", fmt::format("{}", *info.sizes.parts));
  if (info.sizes.segments) append_line(text, "segments", fmt::format("{}", *info.sizes.segments));
  append_line(text, "plaintext", fmt::format("{} bytes", *info.sizes.plaintext));
  append_line(text, "overhead",
              *info.sizes.plaintext == 0
                  ? fmt::format("{} bytes", info.overhead())
                  : fmt::format("{} bytes, {:.2f} %", info.overhead(), info.overhead_percent()));
}

// "SEALED: sealed, version 1, aes-256, 2 slots, 60000 bytes of plaintext", without what is unknown.
std::string to_line(const NamedFile& file, const Info& info) {
  const Description& known = info.description;
  std::string line = fmt::format("{}: {}", printable(file.shown()), format_text(info));
  if (known.cipher) line.append(", ").append(cipher_text(info));
  if (!known.slots.empty()) line += ", " + counted(known.slots.size(), known.slot_noun);
  if (!info.sizes.input) return line + ", size unknown\n";
  if (info.truncated()) return line + ", truncated\n";
  if (info.sizes.parts) line += ", " + counted(*info.sizes.parts, "part");
  return fmt::format("{}, {} bytes of plaintext\n", line, *info.sizes.plaintext);
}

std::string to_text(const Info& info) {
  std::string text;
  const Description& known = info.description;
  append_line(text, "format", format_text(info));
  if (known.suite) append_line(text, "suite", fmt::format("{:02x}", *known.suite));
  append_line(text, "cipher", cipher_text(info));
  append_line(text, "authenticated", info.format->authenticated ? "yes" : "no");
  if (info.armored) append_line(text, "armor", "yes");
  for (std::size_t i = 0; i < known.slots.size(); ++i)
    append_line(text, fmt::format("{} {}", known.slot_noun, i + 1), slot_text(known.slots[i]));
  append_line(text, "header", fmt::format("{} bytes", info.header_bytes));
  append_sizes(text, info);
  return text;
}

// As JSON -----------------------------------------------------------------------------------------

template <class T>
std::string number_or_null(const std::optional<T>& number) {
  return number ? fmt::format("{}", *number) : "null";
}

std::string slot_json(const SlotDescription& slot) {
  std::string json =
      fmt::format(R"({{"type": {}, "kind": {})", number_or_null(slot.type), json_string(slot.kind));
  if (slot.scrypt)
    json += fmt::format(R"(, "scrypt": {{"log2_n": {}, "r": {}, "p": {}}})", slot.scrypt->log2_n,
                        slot.scrypt->r, slot.scrypt->p);
  if (!slot.fingerprint.empty()) json += fmt::format(R"(, "fingerprint": {})", json_string(slot.fingerprint));
  return json + "}";
}

// `first` is the beginning of the object's contents.
std::string to_json(const std::string& first, const Info& info) {
  const Description& known = info.description;
  std::vector<std::string> slots;
  for (const SlotDescription& slot : known.slots) slots.push_back(slot_json(slot));
  const auto& [size, parts, segments, plaintext, index_at] = info.sizes;
  const auto& rules = known.segments;
  const std::string overhead = plaintext ? fmt::format("{}", info.overhead()) : "null";
  const std::string percent =
      plaintext.value_or(0) > 0 ? fmt::format("{:.4f}", info.overhead_percent()) : "null";
  const char* const truncated = !size ? "null" : info.truncated() ? "true" : "false";
  return fmt::format(
      R"({{{}"format": {}, "version": {}, "suite": {}, "cipher": {}, "authenticated": {}, "slots": [{}], )"
      R"("header_bytes": {}, "size": {}, "parts": {}, "segments": {}, "plaintext_bytes": {}, )"
      R"("segment_bytes": {}, "tag_bytes": {}, "index_offset": {}, )"
      R"("overhead_bytes": {}, "overhead_percent": {}, "truncated": {}, "armor": {}}})"
      "\n",
      first, json_string(info.format->name), number_or_null(known.version), number_or_null(known.suite),
      known.cipher ? json_string(gpuaes::info(*known.cipher).name) : "null", info.format->authenticated,
      fmt::join(slots, ", "), info.header_bytes, number_or_null(size), number_or_null(parts),
      number_or_null(segments), number_or_null(plaintext),
      rules ? fmt::format("{}", rules->plain_bytes) : "null", rules ? fmt::format("{}", tag_bytes) : "null",
      number_or_null(index_at), overhead, percent, truncated, info.armored);
}

class InfoRun : public InputRun {
 public:
  explicit InfoRun(const InfoRequest& request) : request_(request) {}

  InputResult run(const InputRequest& input, const Context& context, bool) override {
    const Info info = read_info(input, request_.format, context);
    if (!request_.inputs.several()) return {request_.json ? to_json("", info) : to_text(info)};
    return {request_.json ? to_json(json_file(input.file.name) + ", ", info) : to_line(input.file, info)};
  }

  std::string describe_failure(const InputRequest& input, const Error& error) const override {
    if (!request_.json) return {};
    return fmt::format("{{{}, \"error\": {}}}\n", json_file(input.file.name), json_string(error.what()));
  }

 private:
  const InfoRequest& request_;
};

}  // namespace

bool has_plaintext_size(FdSource& encrypted, const Format* named, std::uint64_t plaintext_bytes) try {
  const Info info = read_header(encrypted, named);
  const auto& segments = info.description.segments;
  const std::uint64_t size = encrypted.size().value_or(0);
  if (info.description.in_parts)
    return sizes_of_parts(encrypted, size, info.header_bytes, info.description.cipher.value()).plaintext ==
           plaintext_bytes;
  const std::uint64_t binary =
      info.header_bytes + (segments ? sealed_size(plaintext_bytes, *segments) : plaintext_bytes);
  return size == (info.armored ? armored_size(info.format->armor, binary) : binary);
} catch (const Error&) {
  return false;
}

void print_info(const InfoRequest& request, const Messages& messages) {
  RunControl control(messages);
  prepare_inputs(files_of(request.inputs));
  InfoRun run(request);
  for_each_input(request.inputs, control.context, run);
}

}  // namespace gpuaes
