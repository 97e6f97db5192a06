// Bytes as a line of text that people copy, with a checksum that notices every four characters that are
// wrong: Bech32, BIP 173, "Base32 address format for native v0-16 witness outputs", of which this is the
// section "Bech32" and no address. What is encoded may be secret: neither a branch nor an address depends on
// it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace gpuaes {

// The longest text there is.
inline constexpr std::size_t max_bech32_characters = 90;

// How many characters make `data_bytes` behind a prefix (the human-readable part): it, a 1, five bits for
// each character, and six characters of checksum.
constexpr std::size_t bech32_characters(std::size_t prefix_characters, std::size_t data_bytes) {
  return prefix_characters + 1 + (8 * data_bytes + 4) / 5 + 6;
}

// Writes the text of `data`, bech32_characters() of it, to `out`: in capitals where the prefix is.
void encode_bech32(std::string_view prefix, std::span<const std::byte> data, std::span<std::byte> out);

// What is wrong with a text, the first of these that is.
enum class Bech32Fault { none, prefix, length, character, mixed_case, checksum, padding };

// The bytes in `text`, all of it, which has to hold data.size() of them behind that prefix; capitals alone,
// or none. `data` is of use only where there is no fault.
Bech32Fault decode_bech32(std::string_view prefix, std::string_view text, std::span<std::byte> data);

// Whether `text` begins with the prefix and a 1, in capitals or not.
bool has_bech32_prefix(std::string_view prefix, std::string_view text);

}  // namespace gpuaes
