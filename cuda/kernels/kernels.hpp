// Kernel launches as plain C++, usable without nvcc. Every function enqueues on `stream` and returns.
// LaneError if a launch fails; if a kernel fails, waiting for the stream reports it.
//
// All memory is device memory, aligned to 16 bytes, and readable and writable up to the next multiple of 16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cipher/chacha20/poly1305.hpp"
#include "cipher/job.hpp"
#include "cipher/modes/ghash.hpp"

namespace gpuaes::cuda {

struct AesKey {
  const std::uint32_t* round_keys;  // 4 * (rounds + 1) words, as aes::expand_key() makes them
  int rounds;                       // 10, 12 or 14
};

// out[i] = in[i] XOR AES-CTR keystream, for `size` bytes, which may be 0. `in` and `out` are the same or do
// not overlap.
void launch_aes_ctr(const AesKey& key, Counter counter, const std::byte* in, std::byte* out, std::size_t size,
                    cudaStream_t stream);

struct KuznyechikKey {
  const std::uint32_t* round_keys;  // 40 words: the bytes of kuznyechik::RoundKeys
};

// Like launch_aes_ctr().
void launch_kuznyechik_ctr(const KuznyechikKey& key, Counter counter, const std::byte* in, std::byte* out,
                           std::size_t size, cudaStream_t stream);

// Bytes that may be kernel parameters, whose copies cannot all be wiped. Padded with zeros to a multiple of
// 16.
struct PublicData {
  std::uint32_t size = 0;
  std::uint32_t words[max_aad_bytes / 4] = {};
};

// AES-GCM of segments as cipher/modes/segments.hpp defines them.
struct GcmJob {
  AesKey key;
  const ghash::Powers* powers;  // of the hash key H
  Nonce base_nonce;
  std::uint64_t first_segment;
  PublicData aad;
  std::size_t sealed_bytes;  // of all segments; each but the last has sealed_segment_bytes
  std::byte* masks;          // scratch memory: 16 bytes for each segment
};

// More than the number of segments in any job.
inline constexpr std::uint32_t none_bad = 0xffffffff;

// `plain` and `sealed` do not overlap. `first_bad` must be none_bad before the call. It keeps that value if
// all tags are right, and otherwise becomes the number of the job's first segment with a wrong tag. Most jobs
// leave it unchanged, so setting it here for each job would waste time.
void launch_gcm_seal(const GcmJob& job, const std::byte* plain, std::byte* sealed, cudaStream_t stream);
void launch_gcm_open(const GcmJob& job, const std::byte* sealed, std::byte* plain, std::uint32_t* first_bad,
                     cudaStream_t stream);

// Kuznyechik-MGM of segments, as in GcmJob.
struct MgmJob {
  KuznyechikKey key;
  Nonce base_nonce;
  std::uint64_t first_segment;
  PublicData aad;
  std::size_t sealed_bytes;  // of all segments; each but the last has sealed_segment_bytes
  std::byte* scratch;        // mgm_scratch_bytes() for each segment
};

// Bytes per segment: the initial counters, the factors, and the sum of products.
constexpr std::size_t mgm_scratch_bytes(std::size_t aad_bytes) {
  return 16 * (2 + (aad_bytes + 15) / 16 + segment_bytes / 16 + 1 + 1);
}

// Like launch_gcm_seal() and launch_gcm_open().
void launch_mgm_seal(const MgmJob& job, const std::byte* plain, std::byte* sealed, cudaStream_t stream);
void launch_mgm_open(const MgmJob& job, const std::byte* sealed, std::byte* plain, std::uint32_t* first_bad,
                     cudaStream_t stream);

// The maximum number of CUDA blocks that share a segment.
inline constexpr unsigned max_chacha20_parts = 8;

// The sums of the CUDA blocks that share a segment. All zeros before and after each launch.
struct SegmentSums {
  poly1305::Number of[max_chacha20_parts];
  std::uint32_t arrived;
};

// ChaCha20-Poly1305 of segments that follow age_segments, as in GcmJob.
struct ChaCha20Job {
  const std::uint32_t* key;  // chacha20::key_words, little-endian
  Nonce base_nonce;
  std::uint64_t first_segment;
  bool ends_message;
  PublicData aad;
  std::size_t sealed_bytes;  // of all segments; each but the last has age_segments.sealed_bytes()
  SegmentSums* sums;         // scratch memory: one for each segment
};

// Like launch_gcm_seal() and launch_gcm_open().
void launch_chacha20_seal(const ChaCha20Job& job, const std::byte* plain, std::byte* sealed,
                          cudaStream_t stream);
void launch_chacha20_open(const ChaCha20Job& job, const std::byte* sealed, std::byte* plain,
                          std::uint32_t* first_bad, cudaStream_t stream);

// Whether the kernels that compute tags use clmad on the current device (cipher/modes/carryless_product.hpp).
bool uses_clmad();

// Describes the kernel that computes the keystream in one of the launches above.
struct KernelFacts {
  const void* function;
  unsigned max_threads;   // in a CUDA block
  unsigned shared_bytes;  // of a CUDA block with that many threads
};
KernelFacts aes_ctr_facts();
KernelFacts aes_gcm_facts();
KernelFacts kuznyechik_ctr_facts();
KernelFacts kuznyechik_mgm_facts();
KernelFacts chacha20_facts();

}  // namespace gpuaes::cuda
