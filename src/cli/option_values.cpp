#include "cli/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.hpp"
#include "base/rows.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "format/parts/frames.hpp"

namespace gpuaes {
namespace {

// With larger chunks, a lane could take more than a second to react to a stop request.
constexpr std::size_t max_size = std::size_t{1} << 30;

constexpr std::size_t max_label_bytes = 255;

constexpr std::uint64_t max_number = std::numeric_limits<std::uint64_t>::max();

// A number of bytes, optionally followed by K, M, G or T, or KiB, MiB, GiB or TiB. nullopt for other text and
// for numbers that do not fit.
std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view units = "KMGT";
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{}) return std::nullopt;
  if (rest == end) return number;
  const std::size_t at = units.find(*rest);
  const std::string_view suffix(rest + 1, end);
  const std::size_t bits = 10 * (at + 1);
  if (at == units.npos || !(suffix.empty() || suffix == "iB") || number > max_number >> bits)
    return std::nullopt;
  return number << bits;
}

std::optional<std::uint32_t> parse_up_to(std::uint32_t max, std::string_view text) {
  const std::optional<std::uint32_t> number = parse_number<std::uint32_t>(text);
  return number && *number <= max ? number : std::nullopt;
}

constexpr std::string_view auto_lanes = "auto", auto_low_cpu = "auto:low-cpu";
constexpr unsigned max_devices = 9999;

UsageError bad_lanes(std::string_view text,
                     std::string hint =
                         "use auto, auto:low-cpu, or cpu[:THREADS] and cuda[:DEVICE[:STREAMS]] "
                         "joined by +") {
  return UsageError(fmt::format("invalid choice of CPUs and GPUs '{}'", text), std::move(hint));
}

// A number in a field of `text`. `what` begins the hint.
unsigned parse_field(std::string_view field, std::string_view what, unsigned min, unsigned max,
                     std::string_view text) {
  const std::optional<unsigned> number = parse_up_to(max, field);
  if (!number || *number < min)
    throw bad_lanes(text, fmt::format("{} must be from {} to {}", what, min, max));
  return *number;
}

Backend parse_backend(std::string_view name, std::string_view text) {
  if (const std::optional<Backend> backend = find_backend(name)) return *backend;
  const bool is_number = !name.empty() && name.find_first_not_of("0123456789") == name.npos;
  throw is_number ? bad_lanes(text, fmt::format("use cpu:{} to set the number of CPU threads", name))
                  : bad_lanes(text);
}

// One item of `text`: NAME[:COUNT], or NAME[:DEVICE[:COUNT]] for a backend that uses devices.
LaneSpec parse_lane(std::string_view item, std::string_view text) {
  const std::vector<std::string_view> fields = split(item, ':');
  LaneSpec spec{.backend = parse_backend(fields[0], text)};
  const std::size_t count = uses_device(spec) ? 2 : 1;
  if (fields.size() > count + 1) throw bad_lanes(text);
  if (uses_device(spec) && fields.size() > 1)
    spec.device = parse_field(fields[1], "the device number", 0, max_devices, text);
  if (fields.size() > count)
    spec.count =
        parse_field(fields[count], uses_device(spec) ? "the number of streams" : "the number of threads", 1,
                    info(spec.backend).max_count, text);
  return spec;
}

}  // namespace

// Those that a user can choose: age files have a cipher of their own.
std::vector<std::string_view> cipher_names() {
  std::vector<std::string_view> names;
  for (const CipherInfo& each : ciphers)
    if (each.ctr) names.push_back(each.name);
  return names;
}

Cipher parse_cipher(const std::string& name) {
  const std::optional<Cipher> cipher = find_cipher(name);
  if (cipher && info(*cipher).ctr) return *cipher;
  throw UsageError(fmt::format("unknown cipher '{}'", name),
                   fmt::format("the ciphers are {}; if -c belongs to a command, put -- before the command",
                               join(cipher_names())));
}

std::size_t parse_size(const std::string& text) {
  constexpr char hint[] =
      "use a whole number of bytes from 1 to 1G, optionally followed by K, M or G, as in 64K or 64KiB";
  const std::optional<std::uint64_t> size = parse_bytes(text);
  if (!size) throw UsageError(fmt::format("invalid size '{}'", text), hint);
  if (*size == 0 || *size > max_size) throw UsageError(fmt::format("size '{}' is out of range", text), hint);
  return static_cast<std::size_t>(*size);
}

ByteRange parse_range(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::optional<std::uint64_t> offset = parse_bytes(text.substr(0, colon));
  const bool open = colon + 1 == text.size();
  const std::optional<std::uint64_t> length =
      open || colon == text.size() ? std::nullopt : parse_bytes(text.substr(colon + 1));
  if (!offset || (!open && !length))
    throw UsageError(fmt::format("invalid range '{}'", text),
                     "use OFFSET:LENGTH, or OFFSET: for the rest of the plaintext, as in 1000:64K or 10GiB:");
  return {*offset, length};
}

Share parse_share(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::optional<std::uint32_t> number = parse_up_to(max_parts, text.substr(0, slash));
  const std::optional<std::uint32_t> of =
      slash == text.size() ? std::nullopt : parse_up_to(max_parts, text.substr(slash + 1));
  if (!number || !of || *number >= *of)
    throw UsageError(
        fmt::format("invalid share '{}'", text),
        fmt::format("use I/N, for example 0/4, with I less than N, and N at most {}", max_parts));
  return {*number, *of};
}

std::uint32_t parse_part_number(const std::string& text) {
  const std::optional<std::uint32_t> number = parse_up_to(max_parts - 1, text);
  if (!number)
    throw UsageError(fmt::format("invalid part '{}'", text), "use the number of a part, from 0 to 1048575");
  return *number;
}

std::string parse_label(const std::string& text) {
  if (text.empty() || text.size() > max_label_bytes)
    throw UsageError(fmt::format("--label has {} bytes; it must have 1 to {}", text.size(), max_label_bytes));
  if (!is_utf8(text)) throw UsageError("--label is not valid UTF-8");
  return text;
}

std::string parse_plugin(const std::string& name) {
  if (parse_number<std::uint32_t>(name))
    throw UsageError(fmt::format("'{}' is not the name of an age plugin", name),
                     fmt::format("to use {0} CPU threads, use -l cpu:{0}", name));
  return name;
}

std::uint32_t parse_part_count(const std::string& text) {
  const std::optional<std::uint32_t> count = parse_up_to(max_parts, text);
  if (!count || *count == 0)
    throw UsageError(fmt::format("invalid number of parts '{}'", text),
                     fmt::format("use a number from 1 to {}", max_parts));
  return *count;
}

LaneChoice parse_lanes(std::string_view text) {
  if (text == auto_lanes || text == auto_low_cpu) return {.named = {}, .low_cpu = text == auto_low_cpu};
  LaneChoice choice;
  for (const std::string_view item : split(text, '+')) choice.named.push_back(parse_lane(item, text));
  if (choice.named.size() > 1) use_first_device(choice.named);
  return choice;
}

std::vector<std::string_view> lane_names() {
  std::vector<std::string_view> names = backend_names();
  names.insert(names.begin(), {auto_lanes, auto_low_cpu});
  return names;
}

std::uint32_t parse_iterations(const std::string& text) {
  const std::optional<std::uint32_t> number = parse_number<std::uint32_t>(text);
  if (!number)
    throw UsageError(fmt::format("invalid --iter '{}'", text), "use a number from 1 to 2147483647");
  return *number;
}

}  // namespace gpuaes
