// Any text is decoded, or refused with AuthError. Text that is decoded is the armor of the result, except for
// white space, and does not depend on how the text is divided.
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "io/armor.hpp"
#include "support/bytes_io.hpp"

namespace gpuaes {
namespace {

struct Decoded {
  std::vector<std::byte> bytes;
  std::string error;
  bool operator==(const Decoded&) const = default;
};

Decoded decode(std::span<const std::byte> text, std::size_t step) {
  Decoded decoded;
  BytesSource source(text, step);
  const auto armor = make_armor_source("AGE ENCRYPTED FILE", source, {});
  std::vector<std::byte> piece(100);
  try {
    while (const std::size_t count = armor->read(piece)) append(decoded.bytes, std::span(piece).first(count));
  } catch (const AuthError& error) {
    decoded.error = error.what();
  }
  return decoded;
}

std::string encode(std::span<const std::byte> bytes) {
  Written written;
  const auto sink = make_armor_sink("AGE ENCRYPTED FILE", std::make_unique<TextSink>(written));
  sink->write(bytes);
  sink->finish();
  return written.text;
}

// The text without empty lines, and with LF as the end of each line.
std::string plain_lines(std::string_view text) {
  std::string lines;
  while (!text.empty())
    if (const std::string_view line = trim_end(take_line(text)); !line.empty())
      lines.append(line).append("\n");
  return lines;
}

}  // namespace

void fuzz(std::span<const std::byte> input) {
  const Decoded decoded = decode(input, input.size() + 1);
  require(decode(input, 1) == decoded);
  if (decoded.error.empty()) require(plain_lines(as_text(input)) == encode(decoded.bytes));
}

}  // namespace gpuaes
