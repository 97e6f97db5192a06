// Tables in constant memory, which serves one address per warp at a time: threads that look up different
// entries wait for each other.

#include "variants/kernel.cuh"

namespace gpuaes::cuda {
namespace {

__constant__ constexpr aes::LookupTables encryption = aes::make_lookup_tables(Direction::encrypt);
__constant__ constexpr aes::LookupTables decryption = aes::make_lookup_tables(Direction::decrypt);

template <class Form>
struct Constant {
  static constexpr TableMemory memory = TableMemory::constant;
  static constexpr unsigned shared_bytes = 0;
  __device__ static auto open(const VariantArguments&, uint4*) {
    return aes::Linear{Form::entries(Form::direction == Direction::encrypt ? encryption : decryption)};
  }
};

}  // namespace

const std::array<Variant, 3> constant_variants{
    make_variant<Constant, Sbox>("sbox-constant", "S-box in constant memory"),
    make_variant<Constant, Ttables<1>>("ttable1-constant", "one T-table in constant memory"),
    make_variant<Constant, Ttables<4>>("ttable4-constant", "four T-tables in constant memory"),
};

}  // namespace gpuaes::cuda
