#include "kernel_use.hpp"

#include "ctr.cuh"

namespace gpuaes::cuda {
namespace {

template <class... Parameters>
LaneKernelUse use_of(void (*kernel)(Parameters...), unsigned threads, unsigned shared_bytes) {
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, kernel));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared_bytes)));
  int resident;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(threads),
                                                      shared_bytes));
  return {.use = {.registers = attributes.numRegs,
                  .local_bytes = attributes.localSizeBytes,
                  .shared_bytes = attributes.sharedSizeBytes + shared_bytes,
                  .resident = resident},
          .threads = threads};
}

template <template <unsigned> class Plan>
LaneKernelUse use_with(AesKernel kernel, int rounds) {
  if (kernel == AesKernel::bitslice)
    return use_of(bitslice_kernel<Plan<aes::tile_blocks>>, bitslice_threads, memory_bytes(bitslice_threads));
  using TtablePlan = Plan<ttable_tile>;
  switch (rounds) {
    case 10:
      return use_of(ttable_kernel<10, TtablePlan>, ttable_threads, table_bytes);
    case 12:
      return use_of(ttable_kernel<12, TtablePlan>, ttable_threads, table_bytes);
    default:
      return use_of(ttable_kernel<14, TtablePlan>, ttable_threads, table_bytes);
  }
}

}  // namespace

LaneKernelUse lane_kernel_use(AesKernel kernel, bool of_segments, int rounds) {
  return of_segments ? use_with<SegmentTiles>(kernel, rounds) : use_with<StretchTiles>(kernel, rounds);
}

}  // namespace gpuaes::cuda
