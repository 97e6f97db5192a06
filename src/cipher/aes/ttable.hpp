// AES in CTR mode with T-tables, as run by a GPU thread; the host runs the same code, so CI checks it without
// a GPU. Memory addresses depend on key and data.
//
// A round (FIPS 197, sections 5.1.1 to 5.1.4) is 16 lookups in T-tables, which combine SubBytes with one
// column of MixColumns. Shared memory serves one word per bank and cycle, so lookups limit the speed;
// everything else is arranged to take less time than they do.
//
// - Bank l holds a copy of the tables for warp lane l, so the lookups of a warp have no bank conflicts.
// - There are two tables, T0 and T1, interleaved with entry x at byte 256 x: one permute instruction extracts
//   a byte of the state and makes it an offset. A single table, which needs a shift and a mask instead, and
//   three rotations for four lookups, was slower. Four tables need no rotation and were slightly faster, but
//   take 128 KiB, which only data center GPUs have.
// - T2 and T3 are T0 and T1 rotated by two rows: one rotation serves the lookups in both and the round key,
//   which is stored rotated.
// - Counters that differ only in the last byte share all but 1 lookup of round 1 and all but 4 of round 2. A
//   thread computes the shared part once for a group of blocks (start), and the rest for each block (block).
#pragma once

#include <cstdint>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/block.hpp"
#include "cipher/host_device.hpp"
#include "cipher/modes/ctr.hpp"

namespace gpuaes::aes {

// T0: the contribution of a byte in row 0 to the four rows of its new column. T1, for row 1, is T0 rotated by
// one row, and so on.
struct TTable {
  std::uint32_t words[256];
};

constexpr TTable make_ttable() {
  TTable table{};
  for (unsigned i = 0; i < 256; ++i) {
    const std::uint32_t once = sbox[i], twice = times_x(sbox[i]);
    table.words[i] = twice | once << 8 | once << 16 | (once ^ twice) << 24;
  }
  return table;
}

// The tables in the layout that CtrKeystream reads. Entry x has 256 bytes: 32 copies of T0[x], one for each
// bank, then 32 of T1[x].
inline constexpr unsigned replicated_words = 256 * 64;

GPUAES_HD inline std::uint32_t replicated_word(const TTable& table, unsigned index) {
  const std::uint32_t word = table.words[index / 64];
  return index % 64 < 32 ? word : permute(word, word, 0x2103);
}

// Makes keystream in one thread, with the round keys in registers.
template <int rounds>
class CtrKeystream {
 public:
  // `replicated`: replicated_words words, aligned to at least 128 bytes. `bank`: 0 to 31. `round_keys`: the
  // words of expand_key().
  GPUAES_HD CtrKeystream(const std::uint32_t* replicated, unsigned bank, const std::uint32_t* round_keys)
      : replicated_(reinterpret_cast<const char*>(replicated)), bank_offset_(4 * bank) {
    for (int i = 0; i < 4 * (rounds + 1); ++i) {
      const bool kept_turned = i >= 4 && i < 4 * rounds;
      keys_[i] = kept_turned ? turn(round_keys[i]) : round_keys[i];
    }
  }

  // Prepares block() for the counters that differ from `counter` only in the last byte.
  GPUAES_HD void start(Counter counter) {
    const Block first = add(load_block(counter), {{keys_[0], keys_[1], keys_[2], keys_[3]}});
    const Block second = round(first, 1);
    column_ = second.words[0] ^ of_last_byte(first.words[3]);
    rest_ = add(round(second, 2), of_column(second.words[0]));
  }

  // The keystream block of the counter with this last byte.
  GPUAES_HD Block block(std::uint32_t last_byte) const {
    Block state = add(rest_, of_column(column_ ^ of_last_byte(last_byte << 24 ^ keys_[3])));
    for (int i = 3; i < rounds; ++i) state = round(state, i);
    return last_round(state);
  }

 private:
  GPUAES_HD static std::uint32_t turn(std::uint32_t word) { return permute(word, word, 0x1032); }

  // The entry of T<table> for the byte in row `row` of a column. Its offset has that byte in bits 8 to 15,
  // and the bank in the bits below.
  template <int table, int row>
  GPUAES_HD std::uint32_t lookup(std::uint32_t column) const {
    const std::uint32_t offset = permute(column, bank_offset_, 0x5504 | row << 4);
    return *reinterpret_cast<const std::uint32_t*>(replicated_ + offset + 128 * table);
  }

  // One column of a middle round. ShiftRows is done by the callers, which pass the source column of each row.
  GPUAES_HD std::uint32_t mix(std::uint32_t row0, std::uint32_t row1, std::uint32_t row2, std::uint32_t row3,
                              std::uint32_t turned_key) const {
    return lookup<0, 0>(row0) ^ lookup<1, 1>(row1) ^
           turn(lookup<0, 2>(row2) ^ lookup<1, 3>(row3) ^ turned_key);
  }
  GPUAES_HD Block round(const Block& state, int number) const {
    const std::uint32_t* s = state.words;
    const std::uint32_t* key = keys_ + 4 * number;
    return {{mix(s[0], s[1], s[2], s[3], key[0]), mix(s[1], s[2], s[3], s[0], key[1]),
             mix(s[2], s[3], s[0], s[1], key[2]), mix(s[3], s[0], s[1], s[2], key[3])}};
  }

  // The contribution to round 1 of the counter's last byte, row 3 of column 3. It affects only column 0.
  GPUAES_HD std::uint32_t of_last_byte(std::uint32_t column3) const { return turn(lookup<1, 3>(column3)); }
  // The contribution of column 0 to round 2. Row r goes to column -r modulo 4.
  GPUAES_HD Block of_column(std::uint32_t column0) const {
    return {{lookup<0, 0>(column0), turn(lookup<1, 3>(column0)), turn(lookup<0, 2>(column0)),
             lookup<1, 1>(column0)}};
  }

  // There is no MixColumns in the last round: byte 1 of a T0 entry is the value of the S-box.
  GPUAES_HD std::uint32_t last(std::uint32_t row0, std::uint32_t row1, std::uint32_t row2,
                               std::uint32_t row3) const {
    const std::uint32_t rows01 = permute(lookup<0, 0>(row0), lookup<0, 1>(row1), 0x0051);
    const std::uint32_t rows23 = permute(lookup<0, 2>(row2), lookup<0, 3>(row3), 0x0051);
    return permute(rows01, rows23, 0x5410);
  }
  GPUAES_HD Block last_round(const Block& state) const {
    const std::uint32_t* s = state.words;
    const std::uint32_t* key = keys_ + 4 * rounds;
    return {{last(s[0], s[1], s[2], s[3]) ^ key[0], last(s[1], s[2], s[3], s[0]) ^ key[1],
             last(s[2], s[3], s[0], s[1]) ^ key[2], last(s[3], s[0], s[1], s[2]) ^ key[3]}};
  }

  const char* replicated_;
  std::uint32_t bank_offset_;
  std::uint32_t keys_[4 * (rounds + 1)];  // the middle rounds' keys are rotated
  std::uint32_t column_ = 0;              // column 0 after round 1, without the counter's last byte
  Block rest_{};                          // state after round 2, without that column
};

}  // namespace gpuaes::aes
