// Table-based decryption of blocks with AES and Kuznyechik, for the bench. No mode of the filter needs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/block.hpp"
#include "cipher/aes/ttable.hpp"
#include "cipher/host_device.hpp"
#include "cipher/kuznyechik/ls_table.hpp"

namespace gpuaes {

enum class Direction { encrypt, decrypt };

// The equivalent inverse cipher (FIPS 197, section 5.3.5), whose steps are in the cipher's own order:
// InvSubBytes, InvShiftRows, InvMixColumns, AddRoundKey, with modified round keys.
namespace aes {

// InvMixColumns, section 5.3.3. Its matrix, with first row 14 11 13 9, is that of MixColumns times the matrix
// with first row 5 0 4 0.
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

// Like make_ttable(): the contribution of a byte in row 0 to the four rows of its new column.
constexpr TTable make_inverse_ttable() {
  TTable table{};
  for (unsigned i = 0; i < 256; ++i) table.words[i] = unmix_column(inverse_sbox[i]);
  return table;
}

// The round keys of the equivalent inverse cipher: the cipher's in reverse order, with InvMixColumns applied
// to all but the first and the last.
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

}  // namespace aes

// Tables of L^-1 S^-1 fit the order of the rounds if each round key except the last is added after L^-1
// instead of before it, and is therefore transformed by L^-1 itself. This leaves S before the first L^-1,
// which cancels the S^-1 of the table there, and S^-1 after the last L^-1.
namespace kuznyechik {

constexpr LsTables make_ls_tables(Direction direction) {
  return direction == Direction::encrypt ? make_ls_tables() : make_tables(unmix, inverse_pi);
}

constexpr KeyWords make_decryption_key_words(const RoundKeys& keys) {
  RoundKeys inverse{};
  for (unsigned i = 0; i <= rounds; ++i)
    inverse.of[i] = i == rounds ? keys.of[0] : unmix(keys.of[rounds - i]);
  return make_key_words(inverse);
}

// S or its inverse without L; `substitute` maps one byte.
template <class Substitute>
GPUAES_HD inline BlockWords substitute_each(const BlockWords& state, const Substitute& substitute) {
  BlockWords result{};
  GPUAES_UNROLL
  for (unsigned i = 0; i < 16; ++i)
    result.words[i / 4] |= std::uint32_t{substitute(state.words[i / 4] >> 8 * (i % 4) & 0xff)} << 8 * (i % 4);
  return result;
}

// `round_keys` are from make_decryption_key_words(), `substitution` is pi.
template <unsigned count, class Memory>
GPUAES_HD inline void decrypt(BlockWords (&blocks)[count], const std::uint32_t* round_keys,
                              const Memory& memory, const std::uint8_t* substitution) {
  GPUAES_UNROLL
  for (unsigned k = 0; k < count; ++k)
    blocks[k] = substitute_each(blocks[k], [&](std::uint32_t byte) { return substitution[byte]; });
  GPUAES_NO_UNROLL
  for (unsigned round = 0; round < rounds; ++round) {
    const BlockWords key = key_of(round_keys, round);
    GPUAES_UNROLL
    for (unsigned k = 0; k < count; ++k) blocks[k] = look_up(blocks[k], key, InOrder<Memory>{memory});
  }
  // L^-1 leaves byte 0 of a block unchanged if all other bytes are 0, so byte 0 of the first table's entries
  // is S^-1.
  const auto invert = [&](std::uint32_t byte) { return memory.entry(byte).words[0] & 0xff; };
  GPUAES_UNROLL
  for (unsigned k = 0; k < count; ++k)
    blocks[k] = add(substitute_each(blocks[k], invert), key_of(round_keys, rounds));
}

}  // namespace kuznyechik
}  // namespace gpuaes
