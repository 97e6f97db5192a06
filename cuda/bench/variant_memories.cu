// The memories that hold the tables of the variants.

#include "bench/variant_kernel.cuh"

namespace gpuaes::cuda {
namespace {

// Constant memory serves one address per warp at a time: threads that look up different entries wait for each
// other.
__constant__ constexpr aes::LookupTables constant_tables = aes::make_lookup_tables();

template <class Form>
struct Constant {
  static constexpr TableMemory memory = TableMemory::constant;
  static constexpr unsigned shared_bytes = 0;
  __device__ static auto open(const VariantArguments&, uint4*) {
    return aes::Linear{Form::entries(constant_tables)};
  }
};

// Global memory, read through the read-only cache.
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

// A texture on linear memory.
template <class Entry>
__device__ Entry fetch(cudaTextureObject_t texture, unsigned index) {
  if constexpr (std::is_same_v<Entry, BlockWords>) {
    const uint4 words = tex1Dfetch<uint4>(texture, static_cast<int>(index));
    return {{words.x, words.y, words.z, words.w}};
  } else {
    return tex1Dfetch<Entry>(texture, static_cast<int>(index));
  }
}

template <class Form>
struct Texture {
  using Entry = typename Form::Entry;
  static constexpr TableMemory memory = TableMemory::texture;
  static constexpr unsigned shared_bytes = 0;
  cudaTextureObject_t texture;

  __device__ static Texture open(const VariantArguments& arguments, uint4*) { return {arguments.texture}; }
  __device__ Entry entry(unsigned index) const { return fetch<Entry>(texture, index); }
};

// Shared memory, one copy per CUDA block: accesses to different entries in the same bank conflict.
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

// Shared memory, one copy in each of the 32 banks. This avoids bank conflicts, but filling the copies takes
// longer, and fewer CUDA blocks fit on a multiprocessor.
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

std::span<const Variant> variants() {
  static const std::vector<Variant> all{
      make_variant<Constant, Sbox>("sbox-constant"),
      make_variant<Constant, Ttables<1>>("ttable1-constant"),
      make_variant<Constant, Ttables<4>>("ttable4-constant"),
      ls_constant_variant(),
      make_variant<Global, Sbox>("sbox-global"),
      make_variant<Global, Ttables<1>>("ttable1-global"),
      make_variant<Global, Ttables<4>>("ttable4-global"),
      make_variant<Global, Ls, LsThread>("ls-global"),
      make_variant<Texture, Ttables<1>>("ttable1-texture"),
      make_variant<Texture, Ttables<4>>("ttable4-texture"),
      make_variant<Texture, Ls, LsThread>("ls-texture"),
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
  return all;
}

}  // namespace gpuaes::cuda
