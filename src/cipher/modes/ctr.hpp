// The counter block of CTR mode: a 16-byte big-endian number that is incremented for each block and wraps at
// 2^128, as in OpenSSL's -ctr ciphers (NIST SP 800-38A, appendix B.1 with m = 128).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "cipher/host_device.hpp"

namespace gpuaes {

using CounterBlock = std::array<std::uint8_t, 16>;

// The same number in two halves, for arithmetic.
struct Counter {
  std::uint64_t high;
  std::uint64_t low;
};

GPUAES_HD constexpr Counter operator+(Counter counter, std::uint64_t blocks) {
  const std::uint64_t low = counter.low + blocks;
  return {counter.high + (low < blocks ? 1u : 0u), low};
}

constexpr Counter load_counter(const CounterBlock& block) {
  Counter counter{0, 0};
  for (int i = 0; i < 8; ++i) {
    counter.high = counter.high << 8 | block[static_cast<std::size_t>(i)];
    counter.low = counter.low << 8 | block[static_cast<std::size_t>(i + 8)];
  }
  return counter;
}

constexpr CounterBlock store_counter(Counter counter) {
  return std::bit_cast<CounterBlock>(
      std::array{__builtin_bswap64(counter.high), __builtin_bswap64(counter.low)});
}

}  // namespace gpuaes
