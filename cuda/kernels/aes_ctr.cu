// AES-CTR of data under consecutive counters.

#include "kernels/aes_ctr.cuh"
#include "kernels/kernels.hpp"

namespace gpuaes::cuda {

void launch_aes_ctr(const AesKey& key, Counter counter, const std::byte* in, std::byte* out, std::size_t size,
                    cudaStream_t stream) {
  if (size == 0) return;
  launch_ctr(
      key,
      [&]<unsigned tile_size> {
        return CtrTiles<tile_size>{counter, (size + 15) / 16, reinterpret_cast<const std::uint32_t*>(in),
                                   reinterpret_cast<std::uint32_t*>(out)};
      },
      stream);
}

KernelFacts aes_ctr_facts(CudaKernel kernel, Cipher cipher) {
  return ctr_facts<CtrTiles>(kernel, cipher);
}

}  // namespace gpuaes::cuda
