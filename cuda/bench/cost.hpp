// What kernels cost: the operations that limit them, a device's rates of these, and the resulting upper bound
// on a kernel's speed.
#pragma once

#include <cstddef>
#include <string_view>

#include "bench/variants.hpp"
#include "cipher/job.hpp"

namespace gpuaes::cuda {

// Counts of operations, summed over threads. Loads are from shared memory.
struct Operations {
  double memory_bytes = 0;  // read from and written to device memory
  // Functions of three words (LOP3), PRMT and right shifts, which share units. Left shifts may be
  // multiplications, whose units have capacity to spare.
  double logic = 0;
  double multiplications = 0;      // of two words to two, with an addition (IMAD.WIDE)
  double shuffles = 0;             // words passed between the threads of a warp
  double loads_of_own_bank = 0;    // words, each thread of a warp in its own bank
  double loads_of_256_words = 0;   // words, each thread any of 256, as in a T-table
  double loads_of_256_bytes = 0;   // bytes, each thread any of 256, as in the S-box
  double loads_of_256_blocks = 0;  // 16 bytes, each thread any of 256 entries, as in an LS table
};

// The operations of one cipher block, for all threads that work on it. Only unavoidable work counts, so no
// kernel is faster than its limit.
Operations aes_bitslice_cost(Cipher cipher, Operation mode);
Operations kuznyechik_bitslice_cost(Cipher cipher, Operation mode);
Operations chacha20_cost(Cipher cipher, Operation mode);
Operations ttable_cost(Cipher cipher, Operation mode);
Operations interleaved_cost(Cipher cipher, Operation mode);
Operations variant_cost(const Variant& variant, Cipher cipher);

// The maximum rates of the current device, per second. Copies `size` bytes, more than the caches hold, from
// `from` to `to`, which do not overlap. LaneError.
Operations measure_limits(const std::byte* from, std::byte* to, std::size_t size);

struct KernelLimit {
  std::string_view name;  // "memory", "logic", "multiplication", "shuffle" or "shared memory"
  double gb_per_s;        // of data
};

// The tightest limit, given the rates of the device and the cost of one cipher block.
KernelLimit min_limit(const Operations& per_second, const Operations& per_block);

}  // namespace gpuaes::cuda
