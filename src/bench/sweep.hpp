// What gpuaes-bench sweep tries, and which of it is best.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace gpuaes {

inline constexpr std::array sweep_threads{32u, 64u, 128u, 256u, 512u, 1024u};  // of a CUDA block
inline constexpr std::array sweep_streams{1u, 2u, 4u, 8u, 16u, 32u, 64u};      // of a device

// Numbers of cipher blocks a thread: 0, which leaves it to the kernel; then from a tile on, which has
// `tile_blocks` for each thread of a warp, twice as many each time, as long as launches of `size` bytes have
// a warp for each multiprocessor.
std::vector<unsigned> sweep_blocks(unsigned tile_blocks, std::size_t size, unsigned multiprocessors);

// sweep_streams and the filter's number of them, in ascending order.
std::vector<unsigned> sweep_streams_with(unsigned filter_streams);

// Rates are of any unit, the same for all.
struct ShapeRate {
  unsigned threads;            // in a CUDA block; 0: left to the kernel
  unsigned blocks_per_thread;  // cipher blocks; 0: left to the kernel
  double rate;
};

struct StreamsRate {
  unsigned streams;
  double rate;
};

// Rates that are no further apart are the same: they differ that much from run to run.
inline constexpr double sweep_noise = 0.02;

// Of the shapes that are as fast as the fastest one that which leaves most to the kernel, and of those the
// fastest. One at least.
const ShapeRate& choose_shape(std::span<const ShapeRate> rates);

// 0 if `filter_streams` are as fast as any, or were not measured; else the fewest that are.
unsigned choose_streams(std::span<const StreamsRate> rates, unsigned filter_streams);

}  // namespace gpuaes
