// Tables in shared memory, one copy in each of the 32 banks. This avoids bank conflicts, but filling the
// copies takes longer, and fewer CUDA blocks fit on a multiprocessor.

#include "variants/kernel.cuh"

namespace gpuaes::cuda {
namespace {

template <class Form>
struct Banks {
  using Banked = aes::Banked<Form::tables>;
  static constexpr TableMemory memory = TableMemory::banks;
  static constexpr unsigned shared_bytes = 4 * Banked::words;

  __device__ static Banked open(const VariantArguments& arguments, uint4* shared) {
    const typename Form::Entry* const original = entries_of<Form>(*arguments.tables);
    for (unsigned i = threadIdx.x; i < Banked::words / 4; i += blockDim.x) {
      const std::uint32_t entry = original[Banked::entry_of(4 * i)];
      shared[i] = {entry, entry, entry, entry};
    }
    return {reinterpret_cast<const std::uint32_t*>(shared), threadIdx.x % 32 * 4};
  }
};

}  // namespace

std::vector<Variant> banked_variants() {
  return {
      make_variant<Banks, Sbox>("sbox-shared-banks"),
      make_variant<Banks, Ttables<1>>("ttable1-shared-banks"),
      make_variant<Banks, Ttables<4>>("ttable4-shared-banks"),
      make_variant<Banks, Sbox, FourThreads>("sbox-shared-banks-4threads"),
      make_variant<Banks, Ttables<1>, FourThreads>("ttable1-shared-banks-4threads"),
      make_variant<Banks, Ttables<4>, FourThreads>("ttable4-shared-banks-4threads"),
      make_variant<Banks, Sbox, SixteenThreads>("sbox-shared-banks-16threads"),
      make_variant<Banks, Ttables<1>, SixteenThreads>("ttable1-shared-banks-16threads"),
      make_variant<Banks, Ttables<4>, SixteenThreads>("ttable4-shared-banks-16threads"),
  };
}

}  // namespace gpuaes::cuda
