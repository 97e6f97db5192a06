// Launches the kernel that makes CTR keystream and adds it to the data of a job.
#pragma once

#include "bitslice_kernel.cuh"
#include "kernels.hpp"
#include "ttable_kernel.cuh"

namespace gpuaes::cuda {

// make_plan.operator()<size>(): a plan of tiles of that size.
template <class MakePlan>
void launch_ctr(const AesKey& key, MakePlan make_plan, cudaStream_t stream) {
  switch (key.kernel) {
    case AesKernel::bitslice:
      return launch_bitslice(key, make_plan.template operator()<aes::tile_blocks>(), stream);
    case AesKernel::ttable:
      return launch_ttable(key, make_plan.template operator()<ttable_tile>(), stream);
  }
}

}  // namespace gpuaes::cuda
