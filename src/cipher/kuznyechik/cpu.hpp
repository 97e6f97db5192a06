// Kuznyechik on the CPU, with one key: many blocks at a time, with the best vector instructions that the CPU
// supports. No memory address or branch depends on key or data.
#pragma once

#include <cstddef>
#include <span>

#include "cipher/kuznyechik/bitslice.hpp"
#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/ctr.hpp"
#include "keys/secret.hpp"

namespace gpuaes {
namespace kuznyechik {

// Code for one instruction set. Encrypts `blocks` blocks in place, one per bit of a vector.
struct SimdCode {
  const char* name;
  std::size_t blocks;
  bool (*is_supported)();  // by this CPU
  void (*encrypt)(const KeySlices& keys, Block* blocks);
};

inline constexpr std::size_t largest_batch = 512;  // of `blocks`

// All code in this build, fastest first.
std::span<const SimdCode> simd_codes();

// The fastest code that this CPU supports.
const SimdCode& find_simd_code();

}  // namespace kuznyechik

class KuznyechikCpu {
 public:
  // The key has 32 bytes.
  explicit KuznyechikCpu(std::span<const std::byte> key,
                         const kuznyechik::SimdCode& code = kuznyechik::find_simd_code());

  // Encrypts the blocks in place. Blocks beyond a multiple of largest_batch are slower.
  void encrypt(std::span<kuznyechik::Block> blocks) const;

  // Counter mode. `out` has the length of `in`; they are the same memory or do not overlap.
  void ctr(Counter first, std::span<const std::byte> in, std::span<std::byte> out) const;

 private:
  kuznyechik::KeySlices& keys() { return *reinterpret_cast<kuznyechik::KeySlices*>(memory_.bytes().data()); }
  const kuznyechik::KeySlices& keys() const {
    return *reinterpret_cast<const kuznyechik::KeySlices*>(memory_.bytes().data());
  }

  const kuznyechik::SimdCode& code_;
  Secret memory_{sizeof(kuznyechik::KeySlices)};
};

// out = in XOR keystream. The last block of the keystream may be used in part.
void add_keystream(std::span<const kuznyechik::Block> keystream, std::span<const std::byte> in,
                   std::span<std::byte> out);

}  // namespace gpuaes
