// Bech32 (BIP 173, section "Bech32"): bytes as text that people can copy, with a checksum that detects any
// error in up to four characters if the text has up to 90, and in one character of a longer text. The bytes
// may be secret: no branch or memory access depends on them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace gpuaes {

// The length of a text, which may exceed the 90 characters of BIP 173: the prefix (the human-readable part),
// a 1, the data at five bits per character, and six characters of checksum.
constexpr std::size_t bech32_characters(std::size_t prefix_characters, std::size_t data_bytes) {
  return prefix_characters + 1 + (8 * data_bytes + 4) / 5 + 6;
}

// Writes the text of `data`, bech32_characters() bytes, to `out`; in uppercase if the prefix is.
void encode_bech32(std::string_view prefix, std::span<const std::byte> data, std::span<std::byte> out);

// What is wrong with a text: the first fault that applies.
enum class Bech32Fault { none, prefix, length, character, mixed_case, checksum, padding };

// What is wrong, for a message: "its checksum is wrong".
std::string_view describe(Bech32Fault fault);

// Decodes `text`, which must be the prefix and exactly data.size() bytes of data, all in uppercase or all in
// lowercase. `data` is valid only if there is no fault.
Bech32Fault decode_bech32(std::string_view prefix, std::string_view text, std::span<std::byte> data);

// What is wrong with a text of any length that has this prefix.
Bech32Fault check_bech32(std::string_view prefix, std::string_view text);

// Whether `text` begins with the prefix, in uppercase or lowercase, and a 1.
bool has_bech32_prefix(std::string_view prefix, std::string_view text);

}  // namespace gpuaes
