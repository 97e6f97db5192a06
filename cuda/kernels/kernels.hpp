// Kernel launches as plain C++: nothing here needs nvcc. Every function enqueues on `stream` and returns;
// errors of the launch are thrown as LaneError, errors of the kernel come out where the stream is waited for.
//
// All memory is the device's, aligned to 16 bytes, and readable and writable up to the next multiple of 16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cipher/job.hpp"
#include "cipher/modes/ghash.hpp"
#include "lane/cuda_kernel.hpp"

namespace gpuaes::cuda {

struct AesKey {
  const std::uint32_t* round_keys;  // 4 * (rounds + 1) words, as aes::expand_key() makes them
  int rounds;                       // 10, 12 or 14
  CudaKernel kernel;                // that works with them
  KernelShape shape{};
};

// out[i] = in[i] XOR AES-CTR keystream, for `size` bytes (any number, also 0).
// `in`, `out`: the same memory, or apart from each other.
void launch_aes_ctr(const AesKey& key, Counter counter, const std::byte* in, std::byte* out, std::size_t size,
                    cudaStream_t stream);

struct KuznyechikKey {
  const std::uint32_t* round_keys;  // 40 words: the bytes of kuznyechik::RoundKeys
  CudaKernel kernel;
  KernelShape shape{};
};

// As launch_aes_ctr().
void launch_kuznyechik_ctr(const KuznyechikKey& key, Counter counter, const std::byte* in, std::byte* out,
                           std::size_t size, cudaStream_t stream);

// Bytes that may be in a kernel's parameters, of which nobody can wipe all copies. What is behind them in
// their last 16 is 0.
struct PublicData {
  std::uint32_t size = 0;
  std::uint32_t words[max_aad_bytes / 4] = {};
};

// AES-GCM of segments, as cipher/modes/segments.hpp cuts them.
struct GcmJob {
  AesKey key;
  const ghash::Powers* powers;  // of the key's H
  Nonce base_nonce;
  std::uint64_t first_segment;
  PublicData aad;
  std::size_t sealed_bytes;  // of all segments; each but the last has sealed_segment_bytes
  std::byte* masks;          // 16 bytes for each segment, for the kernels' own use
};

// A job has fewer segments.
inline constexpr std::uint32_t none_bad = 0xffffffff;

// `plain` and `sealed` are apart. `first_bad`: has none_bad, which is left there if all tags are right, and
// otherwise becomes the first segment whose tag is wrong, counted in this job. Setting it here would take a
// tenth of a job of 4 MiB.
void launch_gcm_seal(const GcmJob& job, const std::byte* plain, std::byte* sealed, cudaStream_t stream);
void launch_gcm_open(const GcmJob& job, const std::byte* sealed, std::byte* plain, std::uint32_t* first_bad,
                     cudaStream_t stream);

// Kuznyechik in MGM, of segments as above.
struct MgmJob {
  KuznyechikKey key;
  Nonce base_nonce;
  std::uint64_t first_segment;
  PublicData aad;
  std::size_t sealed_bytes;  // of all segments; each but the last has sealed_segment_bytes
  std::byte* scratch;        // mgm_scratch_bytes() for each segment
};

// Bytes: where counters and factors start, the factors, and the sum of products.
constexpr std::size_t mgm_scratch_bytes(std::size_t aad_bytes) {
  return 16 * (2 + (aad_bytes + 15) / 16 + segment_bytes / 16 + 1 + 1);
}

// As launch_gcm_seal() and launch_gcm_open().
void launch_mgm_seal(const MgmJob& job, const std::byte* plain, std::byte* sealed, cudaStream_t stream);
void launch_mgm_open(const MgmJob& job, const std::byte* sealed, std::byte* plain, std::uint32_t* first_bad,
                     cudaStream_t stream);

// Of a kernel that makes the keystream in one of the launches above, for whoever asks the device about it.
struct KernelFacts {
  const void* function;
  unsigned blocks_per_thread;                  // cipher blocks of a tile, for each thread of a warp
  unsigned max_threads;                        // of a CUDA block
  unsigned (*shared_bytes)(unsigned threads);  // of a CUDA block of so many threads
};
KernelFacts aes_ctr_facts(CudaKernel kernel, Cipher cipher);
KernelFacts aes_gcm_facts(CudaKernel kernel, Cipher cipher);
KernelFacts kuznyechik_ctr_facts(CudaKernel kernel);
KernelFacts kuznyechik_mgm_facts(CudaKernel kernel);

}  // namespace gpuaes::cuda
