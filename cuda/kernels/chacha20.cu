// Launches of ChaCha20-Poly1305 (RFC 8439) of a job's segments.

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/chacha20_kernel.cuh"
#include "kernels/kernels.hpp"
#include "kernels/launch.cuh"

namespace gpuaes::cuda {
namespace {

ChaCha20Segments make_segments(const ChaCha20Job& job) {
  ChaCha20Segments segments{
      {job.first_segment, count_segments(job.sealed_bytes, age_segments), job.sealed_bytes},
      {},
      job.ends_message};
  std::memcpy(segments.base, job.base_nonce.bytes.data(), sizeof segments.base);
  return segments;
}

// log2 of the number of CUDA blocks that share a segment: more in small launches, which gives all
// multiprocessors work.
unsigned part_bits_of(std::uint64_t segments) {
  const std::uint64_t wanted = std::uint64_t{chacha20_resident} * multiprocessors() / segments;
  return std::bit_width(static_cast<unsigned>(std::clamp<std::uint64_t>(wanted, 1, max_chacha20_parts))) - 1;
}

template <bool opens>
void launch_chacha20(const ChaCha20Job& job, const ChaCha20Data& data, std::uint32_t* first_bad,
                     cudaStream_t stream) {
  const ChaCha20Segments segments = make_segments(job);
  if (segments.count == 0) return;
  const unsigned part_bits = part_bits_of(segments.count);
  Grid grid = even_grid(segments.count << part_bits, chacha20_threads, chacha20_resident);
  grid.shared_bytes = 2 * sizeof(ChaCha20Memory);
  launch(chacha20_poly1305_kernel<opens>, grid, stream, job.key, job.aad, segments, data, part_bits, job.sums,
         first_bad);
}

}  // namespace

void launch_chacha20_seal(const ChaCha20Job& job, const std::byte* plain, std::byte* sealed,
                          cudaStream_t stream) {
  launch_chacha20<false>(job, {plain, sealed, age_segments.plain_bytes, age_segments.sealed_bytes()}, nullptr,
                         stream);
}

void launch_chacha20_open(const ChaCha20Job& job, const std::byte* sealed, std::byte* plain,
                          std::uint32_t* first_bad, cudaStream_t stream) {
  launch_chacha20<true>(job, {sealed, plain, age_segments.sealed_bytes(), age_segments.plain_bytes},
                        first_bad, stream);
}

KernelFacts chacha20_facts() {
  return {reinterpret_cast<const void*>(chacha20_poly1305_kernel<false>), chacha20_threads,
          2 * sizeof(ChaCha20Memory)};
}

}  // namespace gpuaes::cuda
