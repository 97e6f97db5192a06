// Launches of AES: CTR mode, and GCM (NIST SP 800-38D) of a job's segments. GCM launches the CTR kernel, then
// one that computes the tags of the ciphertext and writes or compares them.

#include "cipher/modes/segments.hpp"
#include "kernels/aes_bitslice_kernel.cuh"
#include "kernels/gcm_tag_kernel.cuh"
#include "kernels/kernels.hpp"
#include "kernels/launch.cuh"

namespace gpuaes::cuda {
namespace {

template <class Plan>
void launch_ctr(const AesKey& key, const Plan& plan, cudaStream_t stream) {
  Grid grid = tile_grid(plan.aligned() + plan.gathered(), {bitslice_threads, bitslice_resident_threads});
  grid.shared_bytes = memory_bytes(grid.threads);
  launch(bitslice_kernel<Plan>, grid, stream, key.round_keys, key.rounds, plan);
}

template <template <unsigned> class Plan>
KernelFacts ctr_facts() {
  return {reinterpret_cast<const void*>(bitslice_kernel<Plan<aes::tile_blocks>>), bitslice_threads,
          memory_bytes(bitslice_threads)};
}

Segments make_segments(const GcmJob& job) {
  const Counter nonce = load_counter(job.base_nonce.bytes);
  return {{job.first_segment, count_segments(job.sealed_bytes), job.sealed_bytes},
          {static_cast<std::uint32_t>(nonce.high >> 32), static_cast<std::uint32_t>(nonce.high),
           static_cast<std::uint32_t>(nonce.low >> 32)}};
}

// `sealed` is whichever of `in` and `out` contains the tags.
void launch_gcm(const GcmJob& job, const std::byte* in, std::size_t in_stride, std::byte* out,
                std::size_t out_stride, std::byte* sealed, std::uint32_t* first_bad, cudaStream_t stream) {
  const Segments segments = make_segments(job);
  if (segments.count == 0) return;
  launch_ctr(job.key,
             SegmentTiles<aes::tile_blocks>{segments, in, out, in_stride, out_stride,
                                            reinterpret_cast<std::uint32_t*>(job.masks)},
             stream);
  constexpr unsigned max_per_multiprocessor = 8;  // CUDA blocks, limited by registers
  Grid grid = even_grid(segments.count, tag_threads, max_per_multiprocessor);
  grid.shared_bytes = warp_sums_bytes;
  launch(tag_kernel, grid, stream, job.powers, job.aad, segments, sealed,
         reinterpret_cast<const uint4*>(job.masks), first_bad);
}

}  // namespace

void launch_aes_ctr(const AesKey& key, Counter counter, const std::byte* in, std::byte* out, std::size_t size,
                    cudaStream_t stream) {
  if (size == 0) return;
  launch_ctr(key,
             CtrTiles<aes::tile_blocks>{counter, (size + 15) / 16, reinterpret_cast<const std::uint32_t*>(in),
                                        reinterpret_cast<std::uint32_t*>(out)},
             stream);
}

void launch_gcm_seal(const GcmJob& job, const std::byte* plain, std::byte* sealed, cudaStream_t stream) {
  launch_gcm(job, plain, segment_bytes, sealed, sealed_segment_bytes, sealed, nullptr, stream);
}

void launch_gcm_open(const GcmJob& job, const std::byte* sealed, std::byte* plain, std::uint32_t* first_bad,
                     cudaStream_t stream) {
  launch_gcm(job, sealed, sealed_segment_bytes, plain, segment_bytes, const_cast<std::byte*>(sealed),
             first_bad, stream);
}

bool uses_clmad() {
  return carryless::uses_clmad(10 * compiled_architecture(reinterpret_cast<const void*>(tag_kernel)));
}

KernelFacts aes_ctr_facts() {
  return ctr_facts<CtrTiles>();
}

KernelFacts aes_gcm_facts() {
  return ctr_facts<SegmentTiles>();
}

}  // namespace gpuaes::cuda
