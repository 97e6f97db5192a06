// Tables in constant memory, which serves one address per warp at a time: threads that look up different
// entries wait for each other.

#include "variants/kernel.cuh"

namespace gpuaes::cuda {
namespace {

__constant__ constexpr aes::LookupTables tables = aes::make_lookup_tables();

template <class Form>
struct Constant {
  static constexpr TableMemory memory = TableMemory::constant;
  static constexpr unsigned shared_bytes = 0;
  __device__ static auto open(const VariantArguments&, uint4*) { return aes::Linear{Form::entries(tables)}; }
};

}  // namespace

std::vector<Variant> constant_variants() {
  return {
      make_variant<Constant, Sbox>("sbox-constant"),
      make_variant<Constant, Ttables<1>>("ttable1-constant"),
      make_variant<Constant, Ttables<4>>("ttable4-constant"),
  };
}

}  // namespace gpuaes::cuda
