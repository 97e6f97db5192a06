#include "format/age_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "format/format.hpp"
#include "format/wrapped_keys.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view version_line = "age-encryption.org/v1";
constexpr std::string_view converted_version_line = "age-encryption.org/v1\r";
constexpr std::string_view mac_mark = "---";
constexpr std::size_t age_mac_bytes = 32, mac_chars = 43;
constexpr std::size_t max_version_line_bytes = 128;
constexpr std::size_t mac_line_bytes = mac_mark.size() + 1 + mac_chars + 1;

std::array<std::byte, age_mac_bytes> make_mac(std::span<const std::byte> header, const Secret& file_key) {
  const Secret key = hkdf_sha256(file_key.bytes(), {}, bytes_of("header"), age_mac_bytes);
  return hmac_sha256(key.bytes(), header);
}

// Writes to memory that is large enough.
class StanzaWriter {
 public:
  explicit StanzaWriter(std::span<std::byte> out) : rest_(out) {}

  std::span<std::byte> take(std::size_t size) {
    const std::span<std::byte> taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  void add(std::string_view text) { std::ranges::copy(bytes_of(text), take(text.size()).begin()); }

 private:
  std::span<std::byte> rest_;
};

bool is_visible(char c) {
  return c > ' ' && c <= '~';  // VCHAR
}

// Parses a header while it is read, because its length is not known before.
class Parser {
 public:
  explicit Parser(HeaderReader& input) : input_(input) {}

  AgeHeader parse() {
    check_version(next_line());
    for (std::string_view line = next_line(); !is_mac(line); line = next_line()) {
      if (!line.starts_with(stanza_mark)) refuse_line("a line is neither a stanza nor the MAC");
      if (header_.stanzas.size() == max_stanzas)
        refuse_line(fmt::format("it has more than {} stanzas", max_stanzas));
      parse_stanza(line.substr(stanza_mark.size()));
    }
    if (header_.stanzas.empty()) refuse_line("it has no stanza");
    header_.bytes.resize(at_);
    input_.take(header_.bytes);
    return std::move(header_);
  }

 private:
  // The next line, without its newline.
  std::string_view next_line() {
    const std::size_t max_bytes = at_ == 0 ? max_version_line_bytes : max_stanza_line_bytes;
    line_at_ = at_;
    std::size_t searched = at_;
    for (std::string_view text = peek(at_ + 1);; text = peek(required(text))) {
      const std::size_t end = text.find('\n', searched);
      if (std::min(end, text.size()) - line_at_ > max_bytes) refuse_line("a line is too long");
      searched = text.size();
      if (end == text.npos) continue;
      at_ = end + 1;
      return text.substr(line_at_, end - line_at_);
    }
  }

  // How many bytes of the header there are at least, after `text`, in which the last line is not complete.
  // Reading byte by byte would be slow.
  std::size_t required(std::string_view text) const {
    if (line_at_ == 0) return text.size() + 1;  // of another version, nothing else is known
    const std::string_view line = text.substr(line_at_);
    const bool may_be_mac = line.starts_with(mac_mark) || mac_mark.starts_with(line);
    if (!may_be_mac) return text.size() + 1 + mac_line_bytes;
    return std::max(text.size() + 1, line_at_ + mac_line_bytes);
  }

  std::string_view peek(std::size_t size) {
    if (size > max_age_header_bytes)
      refuse_line(fmt::format("it is longer than {} MiB", max_age_header_bytes >> 20));
    const std::string_view text = as_text(input_.peek(size));
    if (text.size() < size)
      throw AuthError(fmt::format("the input is truncated after byte {}, in its header; nothing was written",
                                  text.size()),
                      copy_again_hint);
    return text;
  }

  void check_version(std::string_view line) {
    if (line == version_line) return;
    if (line == converted_version_line) refuse_converted_lines();
    const std::string_view version = line.substr(std::min(line.size(), age_magic.size()));
    const auto words = parse_arguments(version);
    if (!line.starts_with(age_magic) || !words || words->size() != 1)
      refuse_line("its first line is not that of an age file");
    throw VersionError(fmt::format("the input uses version {} of the age format, not v1", version));
  }

  void parse_stanza(std::string_view arguments) {
    std::optional<std::vector<std::string>> parsed = parse_arguments(arguments);
    if (!parsed) refuse_line("an argument of a stanza is empty or contains an invalid character");
    if (parsed->size() > max_stanza_arguments)
      refuse_line(fmt::format("a stanza has more than {} arguments", max_stanza_arguments));
    Stanza stanza{.arguments = std::move(*parsed), .body = {}, .at = line_at_};
    for (bool is_last = false; !is_last;) {
      const std::string_view line = next_line();
      is_last = line.size() < stanza_line_characters;
      const auto bytes =
          line.size() > stanza_line_characters ? std::nullopt : decode_base64(line, Padding::none);
      if (!bytes) refuse_line("a line in the body of a stanza is not canonical Base64");
      append(stanza.body, *bytes);
    }
    header_.stanzas.push_back(std::move(stanza));
  }

  // Whether the line is the one of the MAC, which is then stored.
  bool is_mac(std::string_view line) {
    if (!line.starts_with(mac_mark)) return false;
    header_.mac_at = line_at_;
    const std::string_view rest = line.substr(mac_mark.size());
    const auto mac = rest.starts_with(' ') ? decode_base64(rest.substr(1), Padding::none) : std::nullopt;
    if (!mac || mac->size() != age_mac_bytes) refuse_line("the MAC is malformed");
    header_.mac = *mac;
    return true;
  }

  [[noreturn]] void refuse_line(std::string_view what) const { refuse_header(line_at_, what); }

  HeaderReader& input_;
  AgeHeader header_;
  std::size_t at_ = 0;       // after the last line
  std::size_t line_at_ = 0;  // its beginning
};

}  // namespace

std::optional<std::vector<std::string>> parse_arguments(std::string_view line) {
  std::vector<std::string> arguments;
  for (const std::string_view argument : split(line, ' ')) {
    if (argument.empty() || !std::ranges::all_of(argument, is_visible)) return std::nullopt;
    arguments.emplace_back(argument);
  }
  return arguments;
}

Secret stanza_text(std::span<const std::string_view> arguments, std::span<const std::byte> body) {
  constexpr std::size_t line_bytes = base64_bytes(stanza_line_characters);
  const std::size_t full_lines = body.size() / line_bytes;
  std::size_t size = stanza_mark.size() + base64_characters(body.size()) + full_lines + 1;
  for (const std::string_view argument : arguments) size += argument.size() + 1;
  Secret text(size);
  StanzaWriter out(text.bytes());
  out.add(stanza_mark);
  for (const std::string_view& argument : arguments) {
    out.add(argument);
    out.add(&argument == &arguments.back() ? "\n" : " ");
  }
  for (std::size_t line = 0; line <= full_lines; ++line) {
    const auto part = body.subspan(line * line_bytes, std::min(line_bytes, body.size() - line * line_bytes));
    encode_secret_base64(part, out.take(base64_characters(part.size())));
    out.add("\n");
  }
  return text;
}

AgeHeader read_age_header(HeaderReader& input) {
  return Parser(input).parse();
}

bool has_correct_mac(const AgeHeader& header, const Secret& file_key) {
  const auto message = std::span(header.bytes).first(header.mac_at + mac_mark.size());
  return is_equal(make_mac(message, file_key), header.mac);
}

std::string text_of(const Stanza& stanza) {
  const std::vector<std::string_view> arguments(stanza.arguments.begin(), stanza.arguments.end());
  return std::string(as_text(stanza_text(arguments, stanza.body).bytes()));
}

std::vector<std::byte> make_age_header(const std::vector<Stanza>& stanzas, const Secret& file_key) {
  std::string text = fmt::format("{}\n", version_line);
  for (const Stanza& stanza : stanzas) text += text_of(stanza);
  text += mac_mark;
  const auto mac = make_mac(bytes_of(text), file_key);
  text += fmt::format(" {}\n", encode_base64(mac, Padding::none));
  const std::span<const std::byte> bytes = bytes_of(text);
  return {bytes.begin(), bytes.end()};
}

}  // namespace gpuaes
