// Base64 (RFC 4648, section 4), only in its canonical form: what encoding the bytes gives.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuaes {

enum class Padding { none, required };

std::string encode_base64(std::span<const std::byte> bytes, Padding padding);

// The bytes that the text encodes; none if it is not canonical. For public data: the time depends on it.
std::optional<std::vector<std::byte>> decode_base64(std::string_view text, Padding padding);

// The same for secrets, without padding: no branch or memory access depends on the bytes. Encoding fills
// `text`, which has base64_characters(bytes.size()) bytes. Decoding fills `bytes`, which has
// base64_bytes(text.size()) bytes, and returns whether the text is canonical.
constexpr std::size_t base64_characters(std::size_t bytes) {
  return (bytes * 4 + 2) / 3;
}
constexpr std::size_t base64_bytes(std::size_t characters) {
  return characters * 3 / 4;
}
void encode_secret_base64(std::span<const std::byte> bytes, std::span<std::byte> text);
bool decode_secret_base64(std::string_view text, std::span<std::byte> bytes);

}  // namespace gpuaes
