// LS tables in constant memory. They fill the 64 KiB that a module has, so this file has nothing else.

#include "bench/variant_kernel.cuh"

namespace gpuaes::cuda {
namespace {

__constant__ constexpr kuznyechik::LsTables ls_tables = kuznyechik::make_ls_tables();

template <class Form>
struct LsConstant {
  static constexpr TableMemory memory = TableMemory::constant;
  static constexpr unsigned shared_bytes = 0;
  __device__ static auto open(const VariantArguments&, uint4*) {
    return aes::Linear<BlockWords>{ls_tables.entries};
  }
};

}  // namespace

Variant ls_constant_variant() {
  return make_variant<LsConstant, Ls, LsThread>("ls-constant");
}

}  // namespace gpuaes::cuda
