#include "bench/kernel_use.hpp"

#include <string>

#include "base/error.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {
namespace {

// What is launched would be another shape than was asked for.
void check_shape(const KernelFacts& facts, const KernelShape& shape) {
  const auto warp = static_cast<unsigned>(attribute(cudaDevAttrWarpSize));
  if (shape.threads > facts.max_threads || shape.threads % warp != 0)
    throw UsageError("its CUDA blocks have whole warps, of " + std::to_string(facts.max_threads) +
                     " threads at most");
  if (shape.blocks_per_thread % facts.blocks_per_thread != 0)
    throw UsageError("its tiles have " + std::to_string(facts.blocks_per_thread) + " blocks a thread");
}

}  // namespace

KernelFacts lane_kernel_facts(CudaKernel kernel, Cipher cipher, bool of_segments) {
  switch (info(cipher).family) {
    case Family::aes:
      return of_segments ? aes_gcm_facts(kernel, cipher) : aes_ctr_facts(kernel, cipher);
    case Family::kuznyechik:
      return of_segments ? kuznyechik_mgm_facts(kernel) : kuznyechik_ctr_facts(kernel);
  }
  refuse_cipher(cipher);
}

LaneKernelUse lane_kernel_use(const KernelFacts& facts, const KernelShape& shape) {
  check_shape(facts, shape);
  const unsigned threads = shape.threads > 0 ? shape.threads : facts.max_threads;
  const unsigned shared_bytes = facts.shared_bytes(threads);
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, facts.function));
  allow_shared_memory(facts.function);
  int resident;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, facts.function, static_cast<int>(threads),
                                                      shared_bytes));
  return {.use = {.registers = attributes.numRegs,
                  .local_bytes = attributes.localSizeBytes,
                  .shared_bytes = attributes.sharedSizeBytes + shared_bytes,
                  .resident = resident},
          .threads = threads};
}

}  // namespace gpuaes::cuda
