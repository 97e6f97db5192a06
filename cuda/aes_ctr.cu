// AES-CTR by T-tables: cipher/aes_ttable.hpp on a whole buffer, in a grid-stride loop over tiles.
//
// A tile is what one warp does between two start(): 128 counters, the first of them a multiple of 128, so
// that all share all but their last byte. A buffer may begin anywhere in its first tile and end anywhere in
// its last. The blocks before it and after it are left out by one comparison: an index before the buffer is
// huge as an unsigned number.
//
// One block of 512 threads on each multiprocessor fills 64 KiB of shared memory with the tables, once. On an
// H200, with data in device memory, that makes 840, 704 and 600 GB/s with keys of 128, 192 and 256 bits, and
// 440, 392 and 355 in launches of 4 MiB, one behind the other. Tried and left (AES-128): tiles of 256 make
// 862 GB/s, but 291 in launches of 4 MiB, since half the warps find no work; two blocks of threads on a
// multiprocessor, 823; more or fewer threads, two cipher blocks at a time, round keys in shared memory: -5 to
// +2 %, and nothing for launches of 4 MiB.
#include <algorithm>

#include "cipher/aes_ttable.hpp"
#include "kernels.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {
namespace {

constexpr unsigned lanes = 32, threads = 512, warps = threads / lanes;
constexpr unsigned blocks_per_lane = 4, tile_blocks = lanes * blocks_per_lane;
constexpr unsigned table_bytes = aes::replicated_words * sizeof(std::uint32_t);

__device__ constexpr aes::TTable ttable = aes::make_ttable();

__host__ __device__ constexpr std::uint64_t tile_count(Counter counter, std::uint64_t blocks) {
  return (counter.low % tile_blocks + blocks + tile_blocks - 1) / tile_blocks;
}

template <int rounds>
__global__ void __launch_bounds__(threads, 1) aes_ctr(const std::uint32_t* round_keys, Counter counter,
                                                      const uint4* in, uint4* out, std::uint64_t blocks) {
  extern __shared__ uint4 tables[];
  for (unsigned i = threadIdx.x; i < table_bytes / sizeof(uint4); i += threads) {
    const std::uint32_t word = aes::replicated_word(ttable, 4 * i);
    tables[i] = {word, word, word, word};
  }
  __syncthreads();

  const unsigned lane = threadIdx.x % lanes, warp = blockIdx.x * warps + threadIdx.x / lanes;
  aes::CtrKeystream<rounds> keystream(reinterpret_cast<const std::uint32_t*>(tables), lane, round_keys);
  const unsigned skipped = counter.low % tile_blocks;
  const Counter aligned{counter.high, counter.low - skipped};
  const std::uint64_t tiles = tile_count(counter, blocks);
  for (std::uint64_t tile = warp; tile < tiles; tile += gridDim.x * warps) {
    const Counter first = aligned + tile * tile_blocks;
    keystream.start(first);
#pragma unroll 1
    for (unsigned i = lane; i < tile_blocks; i += lanes) {
      const std::uint64_t index = tile * tile_blocks + i - skipped;
      // In a branch of its own: otherwise the compiler loads where it needs the data, late, and makes 812
      // GB/s.
      uint4 data{};
      if (index < blocks) data = in[index];
      const aes::Block key = keystream.block(static_cast<unsigned>(first.low) % 256 + i);
      if (index < blocks)
        out[index] = {data.x ^ key.words[0], data.y ^ key.words[1], data.z ^ key.words[2],
                      data.w ^ key.words[3]};
    }
  }
}

template <int rounds>
void launch(const std::uint32_t* round_keys, Counter counter, const std::byte* in, std::byte* out,
            std::uint64_t blocks, cudaStream_t stream) {
  int device, multiprocessors;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  check(cudaFuncSetAttribute(aes_ctr<rounds>, cudaFuncAttributeMaxDynamicSharedMemorySize, table_bytes));

  const std::uint64_t useful = (tile_count(counter, blocks) + warps - 1) / warps;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(std::min<std::uint64_t>(useful, multiprocessors));
  config.blockDim = threads;
  config.dynamicSmemBytes = table_bytes;
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, aes_ctr<rounds>, round_keys, counter, reinterpret_cast<const uint4*>(in),
                           reinterpret_cast<uint4*>(out), blocks));
}

}  // namespace

void launch_aes_ctr(const std::uint32_t* round_keys, int rounds, Counter counter, const std::byte* in,
                    std::byte* out, std::size_t size, cudaStream_t stream) {
  if (size == 0) return;
  const std::uint64_t blocks = (size + 15) / 16;
  switch (rounds) {
    case 10:
      return launch<10>(round_keys, counter, in, out, blocks, stream);
    case 12:
      return launch<12>(round_keys, counter, in, out, blocks, stream);
    default:
      return launch<14>(round_keys, counter, in, out, blocks, stream);
  }
}

}  // namespace gpuaes::cuda
