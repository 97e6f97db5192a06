#include "kernel_cost.hpp"

#include <algorithm>
#include <array>

#include "cipher/aes_bitslice_ctr.hpp"

namespace gpuaes::cuda {
namespace {

// Of bitslice_kernel.cuh, which has a column of 32 blocks in a thread, so 8 blocks. The machine code of a
// middle round has just that: 355 LOP3, 24 shuffles and 8 loads.
KernelCost bitslice_cost(int rounds) {
  constexpr int sbox = aes::substitute_logic;
  constexpr int substitution = 4 * sbox;  // of the rows of a column
  constexpr int mix = aes::mix_logic;
  constexpr int add_key = 32;
  constexpr int transpose = 64 + 3 * (32 + 16);  // permutations; then for two words two LOP3 and a shift
  constexpr int add_data = 32;
  // aes::begin_tile(): a substitution, its double, 40 spread bits, and what is added to them.
  constexpr int begin = sbox + 3 + 40 + 8 + 2 * 32;
  constexpr int shuffles = 24;  // rows 1 to 3
  constexpr int key_loads = 8;  // of 16 bytes that 8 lanes share
  constexpr double blocks = aes::tile_blocks / 32.0;
  const int middle = rounds - 3;  // rounds 1 and 2 are begin_tile()
  return {.logic = (begin + middle * (substitution + mix) + substitution + add_key + transpose + add_data) /
                   blocks,
          .shuffles = (middle + 1) * shuffles / blocks,
          .loads_of_own_bank = ((middle + 1) * key_loads + add_data) / blocks};
}

// Of aes_ttable.hpp. Lookups of a block: in rounds 1 and 2 one and four, and 30 for 4 blocks together; then
// 16 a round. Each needs a permutation for its address; a column of a middle round one more, and two LOP3; of
// the last one three and one; all the rest, 8 permutations and 7 LOP3. The machine code of a block has just
// that.
KernelCost ttable_cost(int rounds) {
  const int middle = rounds - 3;
  return {.logic = middle * (16 + 4 * (1 + 2)) + 16 + 4 * (3 + 1) + 8.0 + 7,
          .loads_of_own_bank = 1 + 4 + 30 / 4.0 + 16 * (middle + 1)};
}

// GHASH: a multiplication for each block, and of each of the 128 threads of a segment another one, for 8
// blocks at most. nvcc makes 360 instructions of it (ghash.hpp), 144 of them multiplications.
void add_tag(KernelCost& cost) {
  constexpr double each = 1 + 1 / 8.0;
  cost.logic += 216 * each;
  cost.multiplications += 144 * each;
}

// What the instructions are that make a column of four entries, and add the round key: of two permutations
// for a turn, three LOP3 for five words, and so on.
int join_of(const Variant& variant, Mode mode) {
  constexpr int pack = 3, mix_column = 8, unmix_before = 8, turns = 3, add = 2;
  if (variant.ttables == 4) return add;
  if (variant.ttables == 1) return turns + add;
  return pack + mix_column + (mode == Mode::ecb_decrypt ? unmix_before : 0);
}

}  // namespace

KernelCost cost_of(CudaKernel kernel, bool with_tag, int rounds) {
  KernelCost cost = kernel == CudaKernel::bitslice ? bitslice_cost(rounds) : ttable_cost(rounds);
  if (with_tag) add_tag(cost);
  return cost;
}

// Of aes_lookup.hpp: 16 lookups a round. An address is one instruction at least. Where 16 threads have a
// block each of them makes its whole column, and takes a byte out of it.
KernelCost cost_of(const Variant& variant, Mode mode, int rounds) {
  const unsigned threads = variant.threads_per_block;
  const double columns = std::max(4u, threads), lookups = 16.0 * rounds;
  constexpr int last_join = 3 + 1;
  KernelCost cost;
  cost.logic = lookups + (rounds - 1) * columns * join_of(variant, mode) + columns * last_join;
  if (threads == 16) cost.logic += rounds * 2 * columns;
  if (threads == 4) cost.shuffles = rounds * 4 * 3;
  if (threads == 16) cost.shuffles = rounds * 16 * 4;
  if (variant.memory == TableMemory::banks) cost.loads_of_own_bank = lookups;
  if (variant.memory == TableMemory::shared)
    (variant.ttables == 0 ? cost.loads_of_256_bytes : cost.loads_of_256_words) = lookups;
  return cost;
}

KernelLimit least_limit(const DeviceLimits& limits, const KernelCost& cost) {
  struct Time {
    std::string_view name;
    double seconds;  // of the device, for a block
  };
  const std::array times{
      Time{"memory", cost.memory_bytes / limits.memory_bytes},
      Time{"logic", cost.logic / limits.logic},
      Time{"multiplication", cost.multiplications / limits.multiplications},
      Time{"shuffle", cost.shuffles / limits.shuffles},
      Time{"shared memory", cost.loads_of_own_bank / limits.loads_of_own_bank +
                                cost.loads_of_256_words / limits.loads_of_256_words +
                                cost.loads_of_256_bytes / limits.loads_of_256_bytes},
  };
  const Time& longest = *std::ranges::max_element(times, {}, &Time::seconds);
  return {longest.name, 16 / longest.seconds / 1e9};
}

}  // namespace gpuaes::cuda
