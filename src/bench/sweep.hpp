// The values that gpuaes-bench sweep tries, and how it chooses the best.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <tuple>
#include <vector>

namespace gpuaes {

inline constexpr std::array sweep_threads{32u, 64u, 128u, 256u, 512u, 1024u};  // of a CUDA block
inline constexpr std::array sweep_streams{1u, 2u, 4u, 8u, 16u, 32u, 64u};      // of a device

// Numbers of cipher blocks per thread: 0, which leaves it to the kernel; then `tile_blocks`, the number in
// the smallest tile, doubled as long as launches of `size` bytes have a warp for each multiprocessor.
inline std::vector<unsigned> sweep_blocks(unsigned tile_blocks, std::size_t size, unsigned multiprocessors) {
  constexpr std::size_t block_bytes = 16, warp_threads = 32, max_blocks = 4096;  // more make no difference
  std::vector<unsigned> blocks{0, tile_blocks};
  const std::size_t most = std::min(size / block_bytes / warp_threads / multiprocessors, max_blocks);
  for (unsigned more = 2 * tile_blocks; more <= most; more *= 2) blocks.push_back(more);
  return blocks;
}

// A measured shape of a launch or number of streams. Rates may be in any unit, but all in the same one.
struct SweepRate {
  unsigned threads;            // in a CUDA block; 0: left to the kernel
  unsigned blocks_per_thread;  // cipher blocks; 0: left to the kernel
  unsigned streams;
  double rate;
};

// Among the fastest, the one that leaves the most to the kernel; of these, the one with the fewest streams;
// of these, the fastest. Rates within 2% count as equal: they vary that much from run to run. `rates` is not
// empty.
inline const SweepRate& choose_fastest(std::span<const SweepRate> rates) {
  constexpr double noise = 0.02;
  const double fastest = std::ranges::max_element(rates, {}, &SweepRate::rate)->rate;
  return *std::ranges::min_element(rates, {}, [&](const SweepRate& each) {
    const int fixed = (each.threads > 0) + (each.blocks_per_thread > 0);
    return std::tuple(each.rate * (1 + noise) < fastest, fixed, each.streams, -each.rate);
  });
}

}  // namespace gpuaes
