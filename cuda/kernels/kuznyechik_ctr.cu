// Kuznyechik in CTR mode (GOST R 34.13-2015) on data under consecutive counters.

#include "cipher/modes/counter_blocks.hpp"
#include "kernels/kernels.hpp"
#include "kernels/kuznyechik_ctr.cuh"

namespace gpuaes::cuda {

void launch_kuznyechik_ctr(const KuznyechikKey& key, Counter counter, const std::byte* in, std::byte* out,
                           std::size_t size, cudaStream_t stream) {
  if (size == 0) return;
  launch_kuznyechik(key,
                    CtrBlocks{counter, (size + 15) / 16, reinterpret_cast<const BlockWords*>(in),
                              reinterpret_cast<BlockWords*>(out)},
                    stream);
}

KernelFacts kuznyechik_ctr_facts(CudaKernel kernel) {
  return kuznyechik_facts<CtrBlocks>(kernel);
}

}  // namespace gpuaes::cuda
