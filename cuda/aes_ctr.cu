// AES-CTR of one stretch of data.

#include "ctr_kernel.cuh"
#include "kernels.hpp"

namespace gpuaes::cuda {
namespace {

struct Stretch {
  Counter counter;
  std::uint64_t blocks;
  const uint4* in;
  uint4* out;

  __host__ __device__ unsigned skipped() const { return counter.low % tile_blocks; }
  __host__ __device__ std::uint64_t tiles() const {
    return (skipped() + blocks + tile_blocks - 1) / tile_blocks;
  }
  __device__ Tile tile(std::uint64_t number) const {
    const Counter first = Counter{counter.high, counter.low - skipped()} + number * tile_blocks;
    return {first, number * tile_blocks - skipped(), tile_blocks, blocks, in, out};
  }
  __device__ void before(std::uint64_t, std::uint64_t, const aes::Block&) const {}
};

}  // namespace

void launch_aes_ctr(const std::uint32_t* round_keys, int rounds, Counter counter, const std::byte* in,
                    std::byte* out, std::size_t size, cudaStream_t stream) {
  if (size == 0) return;
  launch_ctr(
      round_keys, rounds,
      Stretch{counter, (size + 15) / 16, reinterpret_cast<const uint4*>(in), reinterpret_cast<uint4*>(out)},
      stream);
}

}  // namespace gpuaes::cuda
