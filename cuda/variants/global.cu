// Tables in global memory, read through the read-only cache.

#include "kernel.cuh"

namespace gpuaes::cuda {
namespace {

template <class Form>
struct Global {
  static constexpr TableMemory memory = TableMemory::global;
  static constexpr unsigned shared_bytes = 0;
  const typename Form::Entry* entries;

  __device__ static Global open(const VariantArguments& arguments, uint4*) {
    return {Form::entries(*arguments.tables)};
  }
  __device__ std::uint32_t look(unsigned table, std::uint32_t word, unsigned row) const {
    return __ldg(entries + 256 * table + (word >> 8 * row & 0xff));
  }
};

}  // namespace

const std::array<Variant, 3> global_variants{
    make_variant<Global, Sbox>("sbox-global", "S-box in global memory, by the read-only cache"),
    make_variant<Global, Ttables<1>>("ttable1-global",
                                     "one T-table in global memory, by the read-only cache"),
    make_variant<Global, Ttables<4>>("ttable4-global",
                                     "four T-tables in global memory, by the read-only cache"),
};

}  // namespace gpuaes::cuda
