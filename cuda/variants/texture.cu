// Tables in a texture on linear memory.

#include "kernel.cuh"

namespace gpuaes::cuda {
namespace {

template <class Form>
struct Texture {
  static constexpr TableMemory memory = TableMemory::texture;
  static constexpr unsigned shared_bytes = 0;
  cudaTextureObject_t texture;

  __device__ static Texture open(const VariantArguments& arguments, uint4*) { return {arguments.texture}; }
  __device__ std::uint32_t look(unsigned table, std::uint32_t word, unsigned row) const {
    return tex1Dfetch<unsigned>(texture, static_cast<int>(256 * table + (word >> 8 * row & 0xff)));
  }
};

}  // namespace

const std::array<Variant, 2> texture_variants{
    make_variant<Texture, Ttables<1>>("ttable1-texture", "one T-table in a texture"),
    make_variant<Texture, Ttables<4>>("ttable4-texture", "four T-tables in a texture"),
};

}  // namespace gpuaes::cuda
