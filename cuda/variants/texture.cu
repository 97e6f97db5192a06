// Tables in a texture on linear memory.

#include "variants/kernel.cuh"

namespace gpuaes::cuda {
namespace {

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

}  // namespace

std::vector<Variant> texture_variants() {
  return {
      make_variant<Texture, Ttables<1>>("ttable1-texture"),
      make_variant<Texture, Ttables<4>>("ttable4-texture"),
      make_variant<Texture, Ls, LsThread>("ls-texture"),
  };
}

}  // namespace gpuaes::cuda
