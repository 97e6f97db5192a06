#include "bench/cost.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cipher/aes/bitslice_ctr.hpp"
#include "cipher/kuznyechik/bitslice.hpp"
#include "kernels/kernels.hpp"

namespace gpuaes::cuda {
namespace {

constexpr double block_bytes = 32;  // of memory: read once and written once

// Permutations, then two LOP3 and a shift for every two words.
constexpr int transpose_logic = 64 + 3 * (32 + 16);

// GHASH: a multiplication for each block, and another one for each of a segment's 128 threads, which have at
// most 8 blocks each. nvcc compiles a multiplication to 360 instructions (carryless_product.hpp), including
// 144 integer multiplications. With clmad, it takes 4 permutations, 6 LOP3, and 12 clmad, which are left out.
void add_tag(Operations& cost) {
  constexpr double each = 1 + 1 / 8.0;
  if (uses_clmad()) {
    cost.logic += 10 * each;
    return;
  }
  cost.logic += 216 * each;
  cost.multiplications += 144 * each;
}

// Instructions that join four entries into a column and add the round key.
int join_of(Lookup lookup) {
  constexpr int pack = 3, mix_column = 8, turns = 3, add = 2;
  if (lookup == Lookup::four_ttables) return add;
  return lookup == Lookup::one_ttable ? turns + add : pack + mix_column;
}

// cipher/kuznyechik/ls_table.hpp: 16 lookups per round with `address` instructions each. Their results and
// the round key are 17 blocks; one LOP3 adds two words to a third.
constexpr int ls_lookups = 16 * kuznyechik::rounds;
constexpr double ls_logic(int address) {
  return ls_lookups * address + kuznyechik::rounds * 4 * (17 - 1) / 2;
}

// MGM: a factor for each block costs as much as its keystream, and their product takes as many
// multiplications as GHASH does. The rest is left out.
void add_mgm(Operations& cost) {
  cost.logic *= 2;
  cost.loads_of_own_bank *= 2;
  if (!uses_clmad()) cost.multiplications += 144;
}

// An address takes at least one instruction.
Operations ls_cost(const Variant& variant) {
  Operations cost{.memory_bytes = block_bytes, .logic = ls_logic(1)};
  if (variant.memory == TableMemory::shared) cost.loads_of_256_blocks = ls_lookups;
  return cost;
}

// bench/aes_lookup.hpp: 16 lookups per round, each address at least one instruction. With 16 threads per
// block, each thread computes its whole column and extracts a byte.
Operations aes_cost(const Variant& variant, int rounds) {
  const unsigned threads = variant.threads_per_block;
  const double columns = std::max(4u, threads), lookups = 16.0 * rounds;
  constexpr int last_join = 3 + 1;
  Operations cost{.memory_bytes = block_bytes};
  cost.logic = lookups + (rounds - 1) * columns * join_of(variant.lookup) + columns * last_join;
  if (threads == 16) cost.logic += rounds * 2 * columns;
  if (threads == 4) cost.shuffles = rounds * 4 * 3;
  if (threads == 16) cost.shuffles = rounds * 16 * 4;
  if (variant.memory == TableMemory::banks) cost.loads_of_own_bank = lookups;
  if (variant.memory == TableMemory::shared)
    (variant.lookup == Lookup::sbox ? cost.loads_of_256_bytes : cost.loads_of_256_words) = lookups;
  return cost;
}

}  // namespace

// kernels/aes_bitslice_kernel.cuh: a thread has one column of 32 blocks, which is the work of 8 blocks. The
// machine code of a middle round agrees.
Operations aes_bitslice_cost(Cipher cipher, Operation mode) {
  const int rounds = aes::rounds(info(cipher).key_bytes);
  constexpr int sbox = aes::substitute_logic;
  constexpr int substitution = 4 * sbox;  // of the rows of a column
  constexpr int mix = aes::mix_logic;
  constexpr int add_key = 32;
  constexpr int add_data = 32;
  // aes::begin_tile(): a substitution, its doubling, 40 spread bits, and additions.
  constexpr int begin = sbox + 3 + 40 + 8 + 2 * 32;
  constexpr int shuffles = 24;  // rows 1 to 3
  constexpr int key_loads = 8;  // of 16 bytes, shared by 8 threads
  constexpr double blocks = aes::tile_blocks / 32.0;
  const int middle = rounds - 3;  // begin_tile() does rounds 1 and 2
  Operations cost{
      .memory_bytes = block_bytes,
      .logic = (begin + middle * (substitution + mix) + substitution + add_key + transpose_logic + add_data) /
               blocks,
      .shuffles = (middle + 1) * shuffles / blocks,
      .loads_of_own_bank = ((middle + 1) * key_loads + add_data) / blocks};
  if (mode != Operation::ctr) add_tag(cost);
  return cost;
}

// cipher/kuznyechik/bitslice.hpp: a thread has 32 blocks, which pass through shared memory twice.
Operations kuznyechik_bitslice_cost(Cipher, Operation mode) {
  using kuznyechik::rounds, kuznyechik::slices;
  constexpr int block_bits = kuznyechik::block_bits;
  constexpr int bases = 16 * (9 + 8);  // to the basis of the circuit and back
  constexpr int round = 16 * kuznyechik::substitute_logic + kuznyechik::mix_logic + block_bits;
  constexpr int add_key_and_data = 2 * block_bits;
  constexpr int key_loads = (rounds + 1) * block_bits / 4;  // of 16 bytes, shared by all threads of a warp
  constexpr int through_memory = 2 * 2 * block_bits;
  Operations cost{.memory_bytes = block_bytes,
                  .logic = (8 * transpose_logic + bases + rounds * round + add_key_and_data) / double{slices},
                  .loads_of_own_bank = (key_loads + through_memory) / double{slices}};
  if (mode != Operation::ctr) add_mgm(cost);
  return cost;
}

// cipher/chacha20/: 80 quarter rounds for 64 bytes with four XORs and four rotations each; the additions may
// run at the same time. Poly1305 splits 16 bytes into limbs and multiplies them.
Operations chacha20_cost(Cipher, Operation) {
  constexpr int blocks = 4, add_data = 16, split = 4 + 5, limbs = 5;
  return {.memory_bytes = block_bytes,
          .logic = (80 * (4 + 4) + add_data) / double{blocks} + split,
          .multiplications = limbs * limbs};
}

// cipher/aes/ttable.hpp. Lookups per block: 1 in round 1, 4 in round 2 and 30 for 4 blocks together, then 16
// per round, each with a permutation for its address. In addition, a column takes a permutation and two LOP3
// in a middle round, or three permutations and a LOP3 in the last. The rest is 8 permutations and 7 LOP3. The
// machine code of a block agrees.
Operations ttable_cost(Cipher cipher, Operation) {
  const int middle = aes::rounds(info(cipher).key_bytes) - 3;
  return {.memory_bytes = block_bytes,
          .logic = middle * (16 + 4 * (1 + 2)) + 16 + 4 * (3 + 1) + 8.0 + 7,
          .loads_of_own_bank = 1 + 4 + 30 / 4.0 + 16 * (middle + 1)};
}

// A lookup reads four words from the thread's own group of banks. Its address takes a permutation and a LOP3,
// as in the machine code.
Operations interleaved_cost(Cipher, Operation) {
  return {.memory_bytes = block_bytes, .logic = ls_logic(2), .loads_of_own_bank = 4 * ls_lookups};
}

Operations variant_cost(const Variant& variant, Cipher cipher) {
  if (variant.lookup == Lookup::ls_tables) return ls_cost(variant);
  return aes_cost(variant, aes::rounds(info(cipher).key_bytes));
}

KernelLimit min_limit(const Operations& per_second, const Operations& per_block) {
  // Seconds for a block, on the whole device.
  const auto time = [&](double Operations::*what) { return per_block.*what / per_second.*what; };
  const std::array<std::pair<std::string_view, double>, 5> times{{
      {"memory", time(&Operations::memory_bytes)},
      {"logic", time(&Operations::logic)},
      {"multiplication", time(&Operations::multiplications)},
      {"shuffle", time(&Operations::shuffles)},
      {"shared memory", time(&Operations::loads_of_own_bank) + time(&Operations::loads_of_256_words) +
                            time(&Operations::loads_of_256_bytes) + time(&Operations::loads_of_256_blocks)},
  }};
  const auto& [name, seconds] =
      *std::ranges::max_element(times, {}, [](const auto& each) { return each.second; });
  return {name, 16 / seconds / 1e9};
}

}  // namespace gpuaes::cuda
