// Kuznyechik as CPU lanes do it, with one key: many blocks at a time, with the best instructions of the CPU.
// Only where it has none of those that kuznyechik_vector.hpp knows are tables looked up, at secret addresses.
#pragma once

#include <cstddef>
#include <span>

#include "cipher/ctr.hpp"
#include "cipher/kuznyechik.hpp"
#include "cipher/kuznyechik_vector.hpp"

namespace gpuaes {

class KuznyechikCpu {
 public:
  // A key of 32 bytes. Without `code` by tables.
  explicit KuznyechikCpu(std::span<const std::byte> key,
                         const kuznyechik::VectorCode* code = kuznyechik::find_vector_code());
  ~KuznyechikCpu();
  KuznyechikCpu(const KuznyechikCpu&) = delete;
  KuznyechikCpu& operator=(const KuznyechikCpu&) = delete;

  // Enciphers each of the blocks, in its place. Multiples of widest_vector leave no part of one unused.
  void encrypt(std::span<kuznyechik::Block> blocks) const;

  // Counter mode. `out` is as long as `in`; the same memory, or apart from it.
  void ctr(Counter first, std::span<const std::byte> in, std::span<std::byte> out) const;

 private:
  const kuznyechik::VectorCode* code_;
  kuznyechik::RoundKeys keys_;
  kuznyechik::SpreadKeys spread_;  // of vectors
};

// out = in XOR keystream, whose last block may be used in part.
void add_keystream(std::span<const kuznyechik::Block> keystream, std::span<const std::byte> in,
                   std::span<std::byte> out);

}  // namespace gpuaes
