// Counter mode with lookup tables in shared memory, for comparison in the bench: faster than the variants,
// and also than the filter's kernel for AES. The filter must not use it: memory addresses depend on key and
// data.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "kernels/kernels.hpp"

namespace gpuaes::cuda {

// Like launch_aes_ctr() and launch_kuznyechik_ctr().
void launch_aes_table_ctr(const AesKey& key, Counter counter, const std::byte* in, std::byte* out,
                          std::size_t size, cudaStream_t stream);
void launch_kuznyechik_table_ctr(const KuznyechikKey& key, Counter counter, const std::byte* in,
                                 std::byte* out, std::size_t size, cudaStream_t stream);

KernelFacts aes_table_facts(Cipher cipher);
KernelFacts kuznyechik_table_facts();

}  // namespace gpuaes::cuda
