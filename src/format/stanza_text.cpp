#include "format/stanza_text.hpp"

#include <algorithm>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "base/text.hpp"

namespace gpuaes {
namespace {

// Writes to memory that is large enough.
class Writer {
 public:
  explicit Writer(std::span<std::byte> out) : rest_(out) {}

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
  Writer out(text.bytes());
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

}  // namespace gpuaes
