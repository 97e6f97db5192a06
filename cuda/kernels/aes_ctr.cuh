// Launches the kernel that makes CTR keystream and adds it to the data of a job.
#pragma once

#include "kernels/aes_bitslice_kernel.cuh"
#include "kernels/aes_ttable_kernel.cuh"
#include "kernels/kernels.hpp"
#include "kernels/launch.cuh"

namespace gpuaes::cuda {

template <class Plan>
void launch_bitslice(const AesKey& key, const Plan& plan, cudaStream_t stream) {
  Grid grid = tile_grid(plan.aligned() + plan.gathered(), key.shape,
                        {aes::tile_blocks / warp_lanes, bitslice_threads, bitslice_resident_threads});
  grid.shared_bytes = memory_bytes(grid.threads);
  launch(bitslice_kernel<Plan>, grid, stream, key.round_keys, key.rounds, plan);
}

template <class Plan>
void launch_ttable(const AesKey& key, const Plan& plan, cudaStream_t stream) {
  Grid grid = tile_grid(std::max(plan.aligned(), plan.gathered()), key.shape,
                        {ttable_tile / warp_lanes, ttable_threads, ttable_threads});
  grid.shared_bytes = table_bytes;
  switch (key.rounds) {
    case 10:
      return launch(ttable_kernel<10, Plan>, grid, stream, key.round_keys, plan);
    case 12:
      return launch(ttable_kernel<12, Plan>, grid, stream, key.round_keys, plan);
    default:
      return launch(ttable_kernel<14, Plan>, grid, stream, key.round_keys, plan);
  }
}

// make_plan.operator()<size>(): a plan of tiles of that size.
template <class MakePlan>
void launch_ctr(const AesKey& key, MakePlan make_plan, cudaStream_t stream) {
  switch (key.kernel) {
    case CudaKernel::bitslice:
      return launch_bitslice(key, make_plan.template operator()<aes::tile_blocks>(), stream);
    case CudaKernel::ttable:
      return launch_ttable(key, make_plan.template operator()<ttable_tile>(), stream);
  }
}

template <template <unsigned> class Plan>
KernelFacts ctr_facts(CudaKernel kernel, Cipher cipher) {
  const auto facts = [](auto* function, unsigned tile, unsigned threads, unsigned (*shared)(unsigned)) {
    return KernelFacts{reinterpret_cast<const void*>(function), tile / warp_lanes, threads, shared};
  };
  if (kernel == CudaKernel::bitslice)
    return facts(bitslice_kernel<Plan<aes::tile_blocks>>, aes::tile_blocks, bitslice_threads, memory_bytes);
  const auto table_facts = [&](auto* function) {
    return facts(function, ttable_tile, ttable_threads, [](unsigned) { return table_bytes; });
  };
  switch (cipher) {
    case Cipher::aes_128:
      return table_facts(ttable_kernel<10, Plan<ttable_tile>>);
    case Cipher::aes_192:
      return table_facts(ttable_kernel<12, Plan<ttable_tile>>);
    case Cipher::aes_256:
      return table_facts(ttable_kernel<14, Plan<ttable_tile>>);
    case Cipher::kuznyechik:
      break;
  }
  refuse_cipher(cipher);
}

}  // namespace gpuaes::cuda
