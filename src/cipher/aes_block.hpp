// A block in the registers of one GPU thread.
#pragma once

#include <cstdint>

#include "cipher/ctr.hpp"
#include "cipher/host_device.hpp"
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

}  // namespace gpuaes::aes
