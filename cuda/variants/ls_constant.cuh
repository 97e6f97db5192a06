// LS tables in constant memory. A module has 64 KiB of constant memory, which the tables of one direction
// fill, so each direction has its own translation unit.
#pragma once

#include "variants/kernel.cuh"

namespace gpuaes::cuda {

template <Direction direction>
__constant__ constexpr kuznyechik::LsTables ls_constants = kuznyechik::make_ls_tables(direction);

template <class Form>
struct LsConstant {
  static constexpr TableMemory memory = TableMemory::constant;
  static constexpr unsigned shared_bytes = 0;
  __device__ static auto open(const VariantArguments&, uint4*) {
    return aes::Linear<BlockWords>{ls_constants<Form::direction>.entries};
  }
};

template <Direction direction, bool is_ctr>
const void* ls_constant_kernel(unsigned blocks_per_thread) {
  return kernel_for<LsConstant, LsForm<direction>, LsThread, is_ctr>(blocks_per_thread);
}

const void* ls_constant_decryption(unsigned blocks_per_thread);

}  // namespace gpuaes::cuda
