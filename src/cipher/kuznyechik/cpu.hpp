// Kuznyechik on the CPU, with one key: many blocks at a time, with the best SIMD instructions that the CPU
// supports. No address and no branch depends on key or data, except on CPUs that support none of them: they
// look up tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cipher/kuznyechik/bitslice.hpp"
#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/ctr.hpp"
#include "keys/secret.hpp"

namespace gpuaes {
namespace kuznyechik {

// The most blocks that code takes at a time: one for each byte of a vector, and one for each bit.
inline constexpr std::size_t max_shuffle_blocks = 32;
inline constexpr std::size_t largest_batch = 512;

// A round key for all blocks of a vector, in the basis of nibble_tables.hpp.
struct ShuffleKey {
  alignas(max_shuffle_blocks) std::array<std::array<std::uint8_t, max_shuffle_blocks>, 16> of;
};
struct ShuffleKeys {
  std::array<ShuffleKey, rounds + 1> of;
};

// The round keys as each technique adds them. As secret as the key.
struct SimdKeys {
  ShuffleKeys shuffle;
  KeySlices bitslice;
};
void prepare(const RoundKeys& keys, ShuffleKeys& prepared);
void prepare(const RoundKeys& keys, KeySlices& prepared);

// Code for one instruction set, which encrypts `blocks` blocks in place.
struct SimdCode {
  const char* name;
  std::size_t blocks;
  bool (*is_supported)();  // by this CPU
  void (*encrypt)(const SimdKeys& keys, Block* blocks);
};

// All that this program was built with, the fastest first. Bitsliced code takes hundreds of blocks at a time
// and is faster; code by shuffle instructions, which look up 16 entries in a register, takes a few blocks.
std::span<const SimdCode> bitslice_simd_codes();
std::span<const SimdCode> shuffle_simd_codes();

// Either may be null.
struct SimdCodes {
  const SimdCode* bitslice = nullptr;  // for whole batches
  const SimdCode* shuffle = nullptr;   // for the remaining blocks
};

// The fastest that this CPU supports.
SimdCodes find_simd_codes();

}  // namespace kuznyechik

class KuznyechikCpu {
 public:
  // A key of 32 bytes. Where `codes` has no code for the remaining blocks, tables encrypt them.
  explicit KuznyechikCpu(std::span<const std::byte> key,
                         const kuznyechik::SimdCodes& codes = kuznyechik::find_simd_codes());

  // Encrypts each of the blocks in place. Multiples of largest_batch leave no remaining blocks, which are
  // slower.
  void encrypt(std::span<kuznyechik::Block> blocks) const;

  // Counter mode. `out` is as long as `in`; the same memory, or apart from it.
  void ctr(Counter first, std::span<const std::byte> in, std::span<std::byte> out) const;

 private:
  struct Keys {
    kuznyechik::RoundKeys round;
    kuznyechik::SimdKeys simd;
  };
  Keys& keys() { return *reinterpret_cast<Keys*>(memory_.bytes().data()); }
  const Keys& keys() const { return *reinterpret_cast<const Keys*>(memory_.bytes().data()); }

  kuznyechik::SimdCodes codes_;
  Secret memory_{sizeof(Keys)};  // its pages are aligned to more than any vector
};

// out = in XOR keystream, whose last block may be used in part.
void add_keystream(std::span<const kuznyechik::Block> keystream, std::span<const std::byte> in,
                   std::span<std::byte> out);

}  // namespace gpuaes
