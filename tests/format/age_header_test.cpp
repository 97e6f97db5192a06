// The text of stanzas, and Base64 of secrets against Base64 of public data.
#include "format/age_header.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"

namespace gpuaes {
namespace {

Bytes some_bytes(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 37 + size);
  return bytes;
}

std::string encode(std::span<const std::byte> bytes) {
  std::string text(base64_characters(bytes.size()), '?');
  encode_secret_base64(bytes, std::as_writable_bytes(std::span(text)));
  return text;
}

std::optional<Bytes> decode(std::string_view text) {
  Bytes bytes(base64_bytes(text.size()));
  return decode_secret_base64(text, bytes) ? std::optional(bytes) : std::nullopt;
}

std::string text_of(const std::vector<std::string_view>& arguments, std::span<const std::byte> body) {
  return std::string(as_text(stanza_text(arguments, body).bytes()));
}

}  // namespace

TEST_CASE("Base64 of secrets is that of public data") {
  for (std::size_t size = 0; size < 200; ++size) {
    const Bytes bytes = some_bytes(size);
    const std::string text = encode_base64(bytes, Padding::none);
    CHECK(encode(bytes) == text);
    CHECK(decode(text) == bytes);
  }
}

TEST_CASE("Base64 of secrets accepts only canonical text") {
  for (const std::string_view text : {"AAAA", "AAA", "AA", "A", "AAAAA", ""})
    for (std::size_t at = 0; at < std::max<std::size_t>(text.size(), 1); ++at)
      for (int c = 0; c < 256; ++c) {
        std::string changed(text);
        if (!text.empty()) changed[at] = static_cast<char>(c);
        CHECK(decode(changed) == decode_base64(changed, Padding::none));
      }
}

TEST_CASE("the last line of a stanza has less than 64 characters") {
  CHECK(text_of({"type", "a"}, {}) == "-> type a\n\n");
  CHECK(text_of({"type"}, Bytes(1)) == "-> type\nAA\n");
  CHECK(text_of({"type"}, Bytes(48)) == "-> type\n" + std::string(64, 'A') + "\n\n");
  CHECK(text_of({"type"}, Bytes(49)) == "-> type\n" + std::string(64, 'A') + "\nAA\n");
}

TEST_CASE("arguments of a stanza") {
  CHECK(parse_arguments("a b") == std::vector<std::string>{"a", "b"});
  CHECK(parse_arguments("~!") == std::vector<std::string>{"~!"});
  for (const char* const bad : {"", " ", "a ", " a", "a  b", "a\tb", "a\r", "\x7f", "\xc3\xa9"})
    CHECK_FALSE(parse_arguments(bad));
}

}  // namespace gpuaes
