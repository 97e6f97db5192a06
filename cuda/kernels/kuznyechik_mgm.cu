// Kuznyechik in MGM (RFC 9058) on a job's segments: three launches of the cipher, each of which needs what
// the one before made (cipher/modes/mgm_counter_blocks.hpp); before the last one the products, behind it the
// tags.

#include "cipher/modes/mgm_counter_blocks.hpp"
#include "kernels/kernels.hpp"
#include "kernels/kuznyechik_ctr.cuh"
#include "kernels/mgm_kernel.cuh"

namespace gpuaes::cuda {
namespace {

MgmSegments make_segments(const MgmJob& job) {
  return {{job.first_segment, count_segments(job.sealed_bytes), job.sealed_bytes},
          load_counter(job.base_nonce.bytes),
          (job.aad.size + 15) / 16};
}

// `sealed` is that of `data` which has the tags.
void launch_mgm(const MgmJob& job, const MgmData& data, std::byte* sealed, std::uint32_t* first_bad,
                cudaStream_t stream) {
  const MgmSegments segments = make_segments(job);
  if (segments.count == 0) return;
  auto* const starts = reinterpret_cast<BlockWords*>(job.room);
  BlockWords* const sums = starts + 2 * segments.count;
  BlockWords* const factors = sums + segments.count;
  constexpr unsigned most = 4;  // CUDA blocks on a multiprocessor

  launch_kuznyechik(job.key, MgmStarts{segments, starts}, stream);
  launch_kuznyechik(job.key, MgmBody(segments, starts, data, factors), stream);
  Grid products = even_grid(segments.count, product_threads, most);
  products.shared_bytes = product_bytes;
  launch(mgm_product_kernel, products, stream, job.aad, segments, sealed, factors, sums);
  launch_kuznyechik(job.key, MgmSums{segments.count, sums}, stream);
  constexpr unsigned warps = mgm_tag_threads / warp_lanes;
  launch(mgm_tag_kernel, even_grid((segments.count + warps - 1) / warps, mgm_tag_threads, most), stream,
         segments, sealed, reinterpret_cast<const uint4*>(sums), first_bad);
}

}  // namespace

void launch_mgm_seal(const MgmJob& job, const std::byte* plain, std::byte* sealed, cudaStream_t stream) {
  launch_mgm(job, {plain, sealed, segment_bytes, sealed_segment_bytes}, sealed, nullptr, stream);
}

void launch_mgm_open(const MgmJob& job, const std::byte* sealed, std::byte* plain, std::uint32_t* first_bad,
                     cudaStream_t stream) {
  launch_mgm(job, {sealed, plain, sealed_segment_bytes, segment_bytes}, const_cast<std::byte*>(sealed),
             first_bad, stream);
}

KernelFacts kuznyechik_mgm_facts(CudaKernel kernel) {
  return kuznyechik_facts<MgmBody>(kernel);
}

}  // namespace gpuaes::cuda
