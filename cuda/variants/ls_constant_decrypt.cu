#include "variants/ls_constant.cuh"

namespace gpuaes::cuda {

const void* ls_constant_decryption(unsigned blocks_per_thread) {
  return ls_constant_kernel<Direction::decrypt, false>(blocks_per_thread);
}

}  // namespace gpuaes::cuda
