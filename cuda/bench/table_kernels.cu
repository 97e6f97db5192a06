#include "bench/table_kernels.hpp"

#include "bench/aes_ttable_kernel.cuh"
#include "bench/kuznyechik_ls_table_kernel.cuh"
#include "kernels/launch.cuh"

namespace gpuaes::cuda {
namespace {

constexpr TileUse aes_use{ttable_threads, ttable_threads};
constexpr TileUse kuznyechik_use{kuznyechik_table_threads, kuznyechik_table_threads};

auto* ttable_function(int rounds) {
  return rounds == 10 ? ttable_kernel<10> : rounds == 12 ? ttable_kernel<12> : ttable_kernel<14>;
}

}  // namespace

void launch_aes_table_ctr(const AesKey& key, Counter counter, const std::byte* in, std::byte* out,
                          std::size_t size, cudaStream_t stream) {
  if (size == 0) return;
  const CtrTiles<ttable_tile> tiles{counter, (size + 15) / 16, reinterpret_cast<const std::uint32_t*>(in),
                                    reinterpret_cast<std::uint32_t*>(out)};
  Grid grid = tile_grid(tiles.aligned(), aes_use);
  grid.shared_bytes = table_bytes;
  launch(ttable_function(key.rounds), grid, stream, key.round_keys, tiles);
}

void launch_kuznyechik_table_ctr(const KuznyechikKey& key, Counter counter, const std::byte* in,
                                 std::byte* out, std::size_t size, cudaStream_t stream) {
  if (size == 0) return;
  const CtrBlocks blocks{counter, (size + 15) / 16, reinterpret_cast<const BlockWords*>(in),
                         reinterpret_cast<BlockWords*>(out)};
  Grid grid = tile_grid((blocks.count() + warp_lanes - 1) / warp_lanes, kuznyechik_use);
  grid.shared_bytes = kuznyechik_table_bytes;
  launch(kuznyechik_table_kernel, grid, stream, key.round_keys, blocks);
}

KernelFacts aes_table_facts(Cipher cipher) {
  return {reinterpret_cast<const void*>(ttable_function(aes::rounds(info(cipher).key_bytes))),
          aes_use.max_threads, table_bytes};
}

KernelFacts kuznyechik_table_facts() {
  return {reinterpret_cast<const void*>(kuznyechik_table_kernel), kuznyechik_use.max_threads,
          kuznyechik_table_bytes};
}

}  // namespace gpuaes::cuda
