#include "kernel_use.hpp"

#include <string>

#include "cipher/mgm_places.hpp"
#include "ctr.cuh"
#include "error.hpp"
#include "kuznyechik.cuh"

namespace gpuaes::cuda {
namespace {

template <class... Parameters>
LaneKernelUse use_of(void (*kernel)(Parameters...), unsigned threads, unsigned shared_bytes) {
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, kernel));
  allow_shared_memory(kernel);
  int resident;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(threads),
                                                      shared_bytes));
  return {.use = {.registers = attributes.numRegs,
                  .local_bytes = attributes.localSizeBytes,
                  .shared_bytes = attributes.sharedSizeBytes + shared_bytes,
                  .resident = resident},
          .threads = threads};
}

constexpr unsigned most_threads(CudaKernel kernel, Cipher cipher) {
  if (kernel == CudaKernel::bitslice) return is_aes(cipher) ? bitslice_threads : kuznyechik_bitslice_threads;
  return is_aes(cipher) ? ttable_threads : kuznyechik_table_threads;
}

// What is launched would be another shape than was asked for.
void check_shape(CudaKernel kernel, Cipher cipher, const KernelShape& shape) {
  const unsigned most = most_threads(kernel, cipher), tile = tile_blocks_per_thread(kernel, cipher);
  if (shape.threads > most || shape.threads % warp_lanes != 0)
    throw UsageError("its CUDA blocks have whole warps, of " + std::to_string(most) + " threads at most");
  if (shape.blocks_per_thread % tile != 0)
    throw UsageError("its tiles have " + std::to_string(tile) + " blocks a thread");
}

template <template <unsigned> class Plan>
LaneKernelUse aes_use_with(CudaKernel kernel, Cipher cipher, unsigned threads) {
  if (kernel == CudaKernel::bitslice)
    return use_of(bitslice_kernel<Plan<aes::tile_blocks>>, threads, memory_bytes(threads));
  using TtablePlan = Plan<ttable_tile>;
  switch (cipher) {
    case Cipher::aes_128:
      return use_of(ttable_kernel<10, TtablePlan>, threads, table_bytes);
    case Cipher::aes_192:
      return use_of(ttable_kernel<12, TtablePlan>, threads, table_bytes);
    default:
      return use_of(ttable_kernel<14, TtablePlan>, threads, table_bytes);
  }
}

template <class Places>
LaneKernelUse kuznyechik_use_with(CudaKernel kernel, unsigned threads) {
  if (kernel == CudaKernel::bitslice)
    return use_of(kuznyechik_bitslice_kernel<Places>, threads, kuznyechik_bitslice_memory(threads));
  return use_of(kuznyechik_table_kernel<Places>, threads, kuznyechik_table_bytes);
}

}  // namespace

unsigned tile_blocks_per_thread(CudaKernel kernel, Cipher cipher) {
  if (!is_aes(cipher)) return kernel == CudaKernel::bitslice ? kuznyechik::slices : 1;
  return (kernel == CudaKernel::bitslice ? aes::tile_blocks : ttable_tile) / warp_lanes;
}

LaneKernelUse lane_kernel_use(CudaKernel kernel, Cipher cipher, bool of_segments, const KernelShape& shape) {
  check_shape(kernel, cipher, shape);
  const unsigned threads = shape.threads > 0 ? shape.threads : most_threads(kernel, cipher);
  if (!is_aes(cipher))
    return of_segments ? kuznyechik_use_with<MgmBody>(kernel, threads)
                       : kuznyechik_use_with<StretchPlaces>(kernel, threads);
  return of_segments ? aes_use_with<SegmentTiles>(kernel, cipher, threads)
                     : aes_use_with<StretchTiles>(kernel, cipher, threads);
}

}  // namespace gpuaes::cuda
