// Launches of Kuznyechik: CTR mode (GOST R 34.13-2015), and MGM (RFC 9058) of a job's segments. MGM launches
// the cipher three times, and each launch needs the results of the previous one
// (cipher/modes/mgm_counter_blocks.hpp). The products are computed before the last of these launches, and the
// tags after it.

#include <algorithm>

#include "cipher/modes/counter_blocks.hpp"
#include "cipher/modes/mgm_counter_blocks.hpp"
#include "kernels/kernels.hpp"
#include "kernels/kuznyechik_bitslice_kernel.cuh"
#include "kernels/launch.cuh"
#include "kernels/mgm_kernel.cuh"

namespace gpuaes::cuda {
namespace {

// Uses fewer threads on devices with little shared memory.
TileUse kuznyechik_bitslice_use() {
  const auto of_block = static_cast<unsigned>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  const auto of_processor = static_cast<unsigned>(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  const auto reserved = static_cast<unsigned>(attribute(cudaDevAttrReservedSharedMemoryPerBlock));
  unsigned threads = kuznyechik_bitslice_threads;
  while (threads > warp_lanes && kuznyechik_bitslice_memory(threads) > of_block) threads -= warp_lanes;
  const unsigned blocks = of_processor / (kuznyechik_bitslice_memory(threads) + reserved);
  return {threads, std::min(blocks * threads, kuznyechik_bitslice_resident_threads)};
}

template <class CounterBlocks>
void launch_kuznyechik(const KuznyechikKey& key, const CounterBlocks& counter_blocks, cudaStream_t stream) {
  const std::uint64_t tiles =
      (counter_blocks.count() + kuznyechik_bitslice_tile - 1) / kuznyechik_bitslice_tile;
  Grid grid = tile_grid(tiles, kuznyechik_bitslice_use());
  grid.shared_bytes = kuznyechik_bitslice_memory(grid.threads);
  launch(kuznyechik_bitslice_kernel<CounterBlocks>, grid, stream, key.round_keys, counter_blocks);
}

template <class CounterBlocks>
KernelFacts kuznyechik_facts() {
  const unsigned threads = kuznyechik_bitslice_use().max_threads;
  return {reinterpret_cast<const void*>(kuznyechik_bitslice_kernel<CounterBlocks>), threads,
          kuznyechik_bitslice_memory(threads)};
}

MgmSegments make_segments(const MgmJob& job) {
  return {{job.first_segment, count_segments(job.sealed_bytes), job.sealed_bytes},
          load_counter(job.base_nonce.bytes),
          (job.aad.size + 15) / 16};
}

// `sealed` is the side of `data` that contains the tags.
void launch_mgm(const MgmJob& job, const MgmData& data, std::byte* sealed, std::uint32_t* first_bad,
                cudaStream_t stream) {
  const MgmSegments segments = make_segments(job);
  if (segments.count == 0) return;
  auto* const starts = reinterpret_cast<BlockWords*>(job.scratch);
  BlockWords* const sums = starts + 2 * segments.count;
  BlockWords* const factors = sums + segments.count;
  constexpr unsigned max_product_blocks = 8, max_tag_blocks = 4;  // CUDA blocks per multiprocessor

  launch_kuznyechik(job.key, MgmStarts{segments, starts}, stream);
  launch_kuznyechik(job.key, MgmBody(segments, starts, data, factors), stream);
  Grid products = even_grid(segments.count, product_threads, max_product_blocks);
  products.shared_bytes = product_bytes;
  launch(mgm_product_kernel, products, stream, job.aad, segments, sealed, factors, sums);
  launch_kuznyechik(job.key, MgmSums{segments.count, sums}, stream);
  constexpr unsigned warps = mgm_tag_threads / warp_lanes;
  launch(mgm_tag_kernel, even_grid((segments.count + warps - 1) / warps, mgm_tag_threads, max_tag_blocks),
         stream, segments, sealed, reinterpret_cast<const uint4*>(sums), first_bad);
}

}  // namespace

void launch_kuznyechik_ctr(const KuznyechikKey& key, Counter counter, const std::byte* in, std::byte* out,
                           std::size_t size, cudaStream_t stream) {
  if (size == 0) return;
  launch_kuznyechik(key,
                    CtrBlocks{counter, (size + 15) / 16, reinterpret_cast<const BlockWords*>(in),
                              reinterpret_cast<BlockWords*>(out)},
                    stream);
}

void launch_mgm_seal(const MgmJob& job, const std::byte* plain, std::byte* sealed, cudaStream_t stream) {
  launch_mgm(job, {plain, sealed, segment_bytes, sealed_segment_bytes}, sealed, nullptr, stream);
}

void launch_mgm_open(const MgmJob& job, const std::byte* sealed, std::byte* plain, std::uint32_t* first_bad,
                     cudaStream_t stream) {
  launch_mgm(job, {sealed, plain, sealed_segment_bytes, segment_bytes}, const_cast<std::byte*>(sealed),
             first_bad, stream);
}

KernelFacts kuznyechik_ctr_facts() {
  return kuznyechik_facts<CtrBlocks>();
}

KernelFacts kuznyechik_mgm_facts() {
  return kuznyechik_facts<MgmBody>();
}

}  // namespace gpuaes::cuda
