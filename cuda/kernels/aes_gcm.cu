// AES-GCM (NIST SP 800-38D) of a job's segments: a launch of the CTR kernel, then one that makes the tags of
// the ciphertext, or compares them.

#include "cipher/modes/segments.hpp"
#include "kernels/aes_ctr.cuh"
#include "kernels/gcm_tag_kernel.cuh"
#include "kernels/kernels.hpp"

namespace gpuaes::cuda {
namespace {

Segments make_segments(const GcmJob& job) {
  const Counter nonce = load_counter(job.base_nonce.bytes);
  return {{job.first_segment, count_segments(job.sealed_bytes), job.sealed_bytes},
          {static_cast<std::uint32_t>(nonce.high >> 32), static_cast<std::uint32_t>(nonce.high),
           static_cast<std::uint32_t>(nonce.low >> 32)}};
}

// `sealed` is that of `in` and `out` which has the tags.
void launch_gcm(const GcmJob& job, const std::byte* in, std::size_t in_stride, std::byte* out,
                std::size_t out_stride, std::byte* sealed, std::uint32_t* first_bad, cudaStream_t stream) {
  const Segments segments = make_segments(job);
  if (segments.count == 0) return;
  launch_ctr(
      job.key,
      [&]<unsigned tile_size> {
        return SegmentTiles<tile_size>{segments,  in,         out,
                                       in_stride, out_stride, reinterpret_cast<std::uint32_t*>(job.masks)};
      },
      stream);
  constexpr unsigned most = 8;  // what a multiprocessor has registers for
  Grid grid = even_grid(segments.count, tag_threads, most);
  grid.shared_bytes = shares_bytes;
  launch(tag_kernel, grid, stream, job.powers, job.aad, segments, sealed,
         reinterpret_cast<const uint4*>(job.masks), first_bad);
}

}  // namespace

void launch_gcm_seal(const GcmJob& job, const std::byte* plain, std::byte* sealed, cudaStream_t stream) {
  launch_gcm(job, plain, segment_bytes, sealed, sealed_segment_bytes, sealed, nullptr, stream);
}

void launch_gcm_open(const GcmJob& job, const std::byte* sealed, std::byte* plain, std::uint32_t* first_bad,
                     cudaStream_t stream) {
  launch_gcm(job, sealed, sealed_segment_bytes, plain, segment_bytes, const_cast<std::byte*>(sealed),
             first_bad, stream);
}

KernelFacts aes_gcm_facts(CudaKernel kernel, Cipher cipher) {
  return ctr_facts<SegmentTiles>(kernel, cipher);
}

}  // namespace gpuaes::cuda
