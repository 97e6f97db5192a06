// Kuznyechik on the CPU, with one key: many blocks at a time, with the best SIMD instructions that the CPU
// supports. No memory address or branch depends on key or data, except on CPUs without these instructions,
// where lookup tables are used.
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

// The maximum numbers of blocks that SIMD code processes at a time: one per byte of a vector, and one per
// bit.
inline constexpr std::size_t max_shuffle_blocks = 32;
inline constexpr std::size_t largest_batch = 512;

// A round key, repeated for all blocks of a vector, in the basis of nibble_tables.hpp.
struct ShuffleKey {
  alignas(max_shuffle_blocks) std::array<std::array<std::uint8_t, max_shuffle_blocks>, 16> of;
};
struct ShuffleKeys {
  std::array<ShuffleKey, rounds + 1> of;
};

// The round keys in the form that each technique uses. As secret as the key.
struct SimdKeys {
  ShuffleKeys shuffle;
  KeySlices bitslice;
};
void prepare(const RoundKeys& keys, ShuffleKeys& prepared);
void prepare(const RoundKeys& keys, KeySlices& prepared);

// Code for one instruction set. Encrypts `blocks` blocks in place.
struct SimdCode {
  const char* name;
  std::size_t blocks;
  bool (*is_supported)();  // by this CPU
  void (*encrypt)(const SimdKeys& keys, Block* blocks);
};

// All code in this build, fastest first. Bitsliced code processes hundreds of blocks at a time and is faster.
// Shuffle code, which uses tables of 16 entries in a register, processes only a few.
std::span<const SimdCode> bitslice_simd_codes();
std::span<const SimdCode> shuffle_simd_codes();

// Either may be null.
struct SimdCodes {
  const SimdCode* bitslice = nullptr;  // for whole batches
  const SimdCode* shuffle = nullptr;   // for the remaining blocks
};

// The fastest code that this CPU supports.
SimdCodes find_simd_codes();

}  // namespace kuznyechik

class KuznyechikCpu {
 public:
  // The key has 32 bytes. If `codes` has no code for the remaining blocks, tables are used for them.
  explicit KuznyechikCpu(std::span<const std::byte> key,
                         const kuznyechik::SimdCodes& codes = kuznyechik::find_simd_codes());

  // Encrypts the blocks in place. Blocks beyond a multiple of largest_batch are slower.
  void encrypt(std::span<kuznyechik::Block> blocks) const;

  // Counter mode. `out` has the length of `in`; they are the same memory or do not overlap.
  void ctr(Counter first, std::span<const std::byte> in, std::span<std::byte> out) const;

 private:
  struct Keys {
    kuznyechik::RoundKeys round;
    kuznyechik::SimdKeys simd;
  };
  Keys& keys() { return *reinterpret_cast<Keys*>(memory_.bytes().data()); }
  const Keys& keys() const { return *reinterpret_cast<const Keys*>(memory_.bytes().data()); }

  kuznyechik::SimdCodes codes_;
  Secret memory_{sizeof(Keys)};  // page-aligned, which suffices for vectors
};

// out = in XOR keystream. The last block of the keystream may be used in part.
void add_keystream(std::span<const kuznyechik::Block> keystream, std::span<const std::byte> in,
                   std::span<std::byte> out);

}  // namespace gpuaes
