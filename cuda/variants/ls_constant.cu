// Encryption, and the table of variants.

#include "variants/ls_constant.cuh"

namespace gpuaes::cuda {
namespace {

const void* choose(Mode mode, unsigned blocks_per_thread) {
  if (mode == Mode::ecb_decrypt) return ls_constant_decryption(blocks_per_thread);
  return mode == Mode::ctr ? ls_constant_kernel<Direction::encrypt, true>(blocks_per_thread)
                           : ls_constant_kernel<Direction::encrypt, false>(blocks_per_thread);
}

}  // namespace

const std::array<Variant, 1> ls_constant_variants{
    Variant{"ls-constant", "LS tables in constant memory", Lookup::ls_tables, TableMemory::constant,
            LsThread::threads, 0, choose},
};

}  // namespace gpuaes::cuda
