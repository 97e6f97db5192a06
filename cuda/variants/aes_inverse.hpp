// The inverse cipher (FIPS 197, section 5.3), in the form that has the order of the cipher itself (section
// 5.3.5): InvSubBytes, InvShiftRows, InvMixColumns, AddRoundKey, with round keys made for it. No mode that
// the filter offers needs it: for the bench.
#pragma once

#include <array>
#include <cstdint>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/block.hpp"
#include "cipher/aes/ttable.hpp"
#include "cipher/host_device.hpp"

namespace gpuaes::aes {

// InvMixColumns, section 5.3.3. Its matrix, whose first row is 14 11 13 9, is that of MixColumns times the
// one whose first row is 5 0 4 0.
GPUAES_HD constexpr std::uint32_t unmix_column(std::uint32_t column) {
  const std::uint32_t fourfold = times_x_each(times_x_each(column ^ turn_rows(column, 2)));
  return mix_column(column ^ fourfold);
}

constexpr std::array<std::uint8_t, 256> make_inverse_sbox() {
  std::array<std::uint8_t, 256> inverse{};
  for (unsigned i = 0; i < 256; ++i) inverse[sbox[i]] = static_cast<std::uint8_t>(i);
  return inverse;
}

inline constexpr std::array<std::uint8_t, 256> inverse_sbox = make_inverse_sbox();

// As make_ttable(): what a byte in row 0 adds to the four rows of its new column.
constexpr TTable make_inverse_ttable() {
  TTable table{};
  for (unsigned i = 0; i < 256; ++i) table.words[i] = unmix_column(inverse_sbox[i]);
  return table;
}

// The round keys of the inverse cipher, from those of the cipher: the last one first, and all but the first
// and the last through InvMixColumns.
constexpr RoundKeys make_decryption_keys(const RoundKeys& keys) {
  RoundKeys inverse{{}, keys.rounds};
  const auto rounds = static_cast<unsigned>(keys.rounds);
  for (unsigned round = 0; round <= rounds; ++round) {
    for (unsigned c = 0; c < 4; ++c) {
      const std::uint32_t word = keys.words[4 * (rounds - round) + c];
      inverse.words[4 * round + c] = round == 0 || round == rounds ? word : unmix_column(word);
    }
  }
  return inverse;
}

}  // namespace gpuaes::aes
