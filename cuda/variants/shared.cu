// Tables in shared memory, one copy per CUDA block: accesses to different entries in the same bank conflict.

#include "variants/kernel.cuh"

namespace gpuaes::cuda {
namespace {

template <class Form>
struct Shared {
  using Entry = typename Form::Entry;
  static constexpr TableMemory memory = TableMemory::shared;
  static constexpr unsigned entries = 256 * Form::tables;
  static constexpr unsigned shared_bytes = entries * sizeof(Entry);

  __device__ static auto open(const VariantArguments& arguments, uint4* shared) {
    auto* const copy = reinterpret_cast<Entry*>(shared);
    const Entry* const original = entries_of<Form>(*arguments.tables);
    for (unsigned i = threadIdx.x; i < entries; i += blockDim.x) copy[i] = original[i];
    return aes::Linear<Entry>{copy};
  }
};

}  // namespace

std::vector<Variant> shared_variants() {
  return {
      make_variant<Shared, Sbox>("sbox-shared"),
      make_variant<Shared, Ttables<1>>("ttable1-shared"),
      make_variant<Shared, Ttables<4>>("ttable4-shared"),
      make_variant<Shared, Sbox, FourThreads>("sbox-shared-4threads"),
      make_variant<Shared, Ttables<1>, FourThreads>("ttable1-shared-4threads"),
      make_variant<Shared, Ttables<4>, FourThreads>("ttable4-shared-4threads"),
      make_variant<Shared, Sbox, SixteenThreads>("sbox-shared-16threads"),
      make_variant<Shared, Ttables<1>, SixteenThreads>("ttable1-shared-16threads"),
      make_variant<Shared, Ttables<4>, SixteenThreads>("ttable4-shared-16threads"),
      make_variant<Shared, Ls, LsThread>("ls-shared"),
  };
}

}  // namespace gpuaes::cuda
