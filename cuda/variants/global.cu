// Tables in global memory, read through the read-only cache.

#include "variants/kernel.cuh"

namespace gpuaes::cuda {
namespace {

template <class Entry>
__device__ Entry load_only(const Entry* entry) {
  return __ldg(entry);
}
__device__ inline BlockWords load_only(const BlockWords* entry) {
  const uint4 words = __ldg(reinterpret_cast<const uint4*>(entry));
  return {{words.x, words.y, words.z, words.w}};
}

template <class Form>
struct Global {
  using Entry = typename Form::Entry;
  static constexpr TableMemory memory = TableMemory::global;
  static constexpr unsigned shared_bytes = 0;
  const Entry* entries;

  __device__ static Global open(const VariantArguments& arguments, uint4*) {
    return {entries_of<Form>(*arguments.tables)};
  }
  __device__ Entry entry(unsigned index) const { return load_only(entries + index); }
};

}  // namespace

std::vector<Variant> global_variants() {
  return {
      make_variant<Global, Sbox>("sbox-global"),
      make_variant<Global, Ttables<1>>("ttable1-global"),
      make_variant<Global, Ttables<4>>("ttable4-global"),
      make_variant<Global, Ls, LsThread>("ls-global"),
  };
}

}  // namespace gpuaes::cuda
