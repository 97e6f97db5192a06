// A block in the registers of one GPU thread, and what is done to one column of it.
#pragma once

#include <cstdint>

#include "cipher/host_device.hpp"
#include "cipher/modes/ctr.hpp"
#include "cipher/permute.hpp"

namespace gpuaes::aes {

// Word c is column c as aes.hpp has it, so on a little-endian machine the words are the 16 bytes.
struct Block {
  std::uint32_t words[4];
};

GPUAES_HD inline Block add(const Block& a, const Block& b) {
  const std::uint32_t *x = a.words, *y = b.words;
  return {{x[0] ^ y[0], x[1] ^ y[1], x[2] ^ y[2], x[3] ^ y[3]}};
}

GPUAES_HD inline Block load_block(Counter counter) {
  const auto swap = [](std::uint64_t word) { return swap_bytes(static_cast<std::uint32_t>(word)); };
  return {{swap(counter.high >> 32), swap(counter.high), swap(counter.low >> 32), swap(counter.low)}};
}

// Four bytes times x in GF(2^8).
GPUAES_HD constexpr std::uint32_t times_x_each(std::uint32_t bytes) {
  return (bytes & 0x7f7f7f7f) << 1 ^ (bytes >> 7 & 0x01010101) * 0x1b;
}

// Row r of the result is row r + rows.
GPUAES_HD constexpr std::uint32_t turn_rows(std::uint32_t column, unsigned rows) {
  return column >> 8 * rows | column << (32 - 8 * rows);
}

// MixColumns of one column, FIPS 197 section 5.1.3.
GPUAES_HD constexpr std::uint32_t mix_column(std::uint32_t column) {
  const std::uint32_t next = turn_rows(column, 1), pair = column ^ next;
  return times_x_each(pair) ^ next ^ turn_rows(pair, 2);
}

}  // namespace gpuaes::aes
