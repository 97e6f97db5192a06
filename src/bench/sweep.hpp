// The values that gpuaes-bench sweep tries, and how it chooses the best.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace gpuaes {

inline constexpr std::array sweep_threads{32u, 64u, 128u, 256u, 512u, 1024u};  // of a CUDA block
inline constexpr std::array sweep_streams{1u, 2u, 4u, 8u, 16u, 32u, 64u};      // of a device

// Numbers of cipher blocks per thread: 0, which leaves it to the kernel; then `tile_blocks`, the number in
// the smallest tile, doubled as long as launches of `size` bytes have a warp for each multiprocessor.
std::vector<unsigned> sweep_blocks(unsigned tile_blocks, std::size_t size, unsigned multiprocessors);

// sweep_streams and the filter's number of streams, in ascending order.
std::vector<unsigned> sweep_streams_with(unsigned filter_streams);

// Rates may be in any unit, but all in the same one.
struct ShapeRate {
  unsigned threads;            // in a CUDA block; 0: left to the kernel
  unsigned blocks_per_thread;  // cipher blocks; 0: left to the kernel
  double rate;
};

struct StreamsRate {
  unsigned streams;
  double rate;
};

// Rates closer than this count as equal: they vary that much from run to run.
inline constexpr double sweep_noise = 0.02;

// Among the shapes as fast as the fastest, the one that leaves the most to the kernel; of several such
// shapes, the fastest. `rates` is not empty.
const ShapeRate& choose_shape(std::span<const ShapeRate> rates);

// 0 if `filter_streams` were not measured or are as fast as any number; otherwise the smallest number that is
// as fast.
unsigned choose_streams(std::span<const StreamsRate> rates, unsigned filter_streams);

}  // namespace gpuaes
