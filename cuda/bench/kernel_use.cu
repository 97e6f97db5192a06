#include "kernel_use.hpp"

#include <string>

#include "ctr.cuh"
#include "error.hpp"

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

constexpr unsigned most_threads(CudaKernel kernel) {
  return kernel == CudaKernel::bitslice ? bitslice_threads : ttable_threads;
}

// What is launched would be another shape than was asked for.
void check_shape(CudaKernel kernel, const KernelShape& shape) {
  const unsigned most = most_threads(kernel), tile = tile_blocks_per_thread(kernel);
  if (shape.threads > most || shape.threads % warp_lanes != 0)
    throw UsageError("its CUDA blocks have whole warps, of " + std::to_string(most) + " threads at most");
  if (shape.blocks_per_thread % tile != 0)
    throw UsageError("its tiles have " + std::to_string(tile) + " blocks a thread");
}

template <template <unsigned> class Plan>
LaneKernelUse use_with(CudaKernel kernel, int rounds, unsigned threads) {
  if (kernel == CudaKernel::bitslice)
    return use_of(bitslice_kernel<Plan<aes::tile_blocks>>, threads, memory_bytes(threads));
  using TtablePlan = Plan<ttable_tile>;
  switch (rounds) {
    case 10:
      return use_of(ttable_kernel<10, TtablePlan>, threads, table_bytes);
    case 12:
      return use_of(ttable_kernel<12, TtablePlan>, threads, table_bytes);
    default:
      return use_of(ttable_kernel<14, TtablePlan>, threads, table_bytes);
  }
}

}  // namespace

unsigned tile_blocks_per_thread(CudaKernel kernel) {
  return (kernel == CudaKernel::bitslice ? aes::tile_blocks : ttable_tile) / warp_lanes;
}

LaneKernelUse lane_kernel_use(CudaKernel kernel, bool of_segments, int rounds, const KernelShape& shape) {
  check_shape(kernel, shape);
  const unsigned threads = shape.threads > 0 ? shape.threads : most_threads(kernel);
  return of_segments ? use_with<SegmentTiles>(kernel, rounds, threads)
                     : use_with<StretchTiles>(kernel, rounds, threads);
}

}  // namespace gpuaes::cuda
