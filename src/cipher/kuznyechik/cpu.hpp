// Kuznyechik as CPU lanes do it, with one key: many blocks at a time, with the best instructions of the CPU.
// Only where it has none of those that kuznyechik_vector.hpp knows are tables looked up, at secret addresses.
#pragma once

#include <cstddef>
#include <span>

#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/kuznyechik/simd.hpp"
#include "cipher/modes/ctr.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

class KuznyechikCpu {
 public:
  // A key of 32 bytes. What is left where `codes` has no code for the rest is done by tables.
  explicit KuznyechikCpu(std::span<const std::byte> key,
                         const kuznyechik::VectorCodes& codes = kuznyechik::find_vector_codes());

  // Enciphers each of the blocks, in its place. Multiples of largest_batch leave no rest, which is slower.
  void encrypt(std::span<kuznyechik::Block> blocks) const;

  // Counter mode. `out` is as long as `in`; the same memory, or apart from it.
  void ctr(Counter first, std::span<const std::byte> in, std::span<std::byte> out) const;

 private:
  struct Keys {
    kuznyechik::RoundKeys round;
    kuznyechik::VectorKeys vector;
  };
  Keys& keys() { return *reinterpret_cast<Keys*>(memory_.bytes().data()); }
  const Keys& keys() const { return *reinterpret_cast<const Keys*>(memory_.bytes().data()); }

  kuznyechik::VectorCodes codes_;
  Secret memory_{sizeof(Keys)};  // its pages are aligned to more than any vector
};

// out = in XOR keystream, whose last block may be used in part.
void add_keystream(std::span<const kuznyechik::Block> keystream, std::span<const std::byte> in,
                   std::span<std::byte> out);

}  // namespace gpuaes
