// Kuznyechik as CPU lanes do it, with one key: many blocks at a time.
#pragma once

#include <cstddef>
#include <span>

#include "cipher/ctr.hpp"
#include "cipher/kuznyechik.hpp"

namespace gpuaes {

class KuznyechikCpu {
 public:
  explicit KuznyechikCpu(std::span<const std::byte> key);  // 32 bytes
  ~KuznyechikCpu();
  KuznyechikCpu(const KuznyechikCpu&) = delete;
  KuznyechikCpu& operator=(const KuznyechikCpu&) = delete;

  // Enciphers each of the blocks, in its place.
  void encrypt(std::span<kuznyechik::Block> blocks) const;

  // Counter mode. `out` is as long as `in`; the same memory, or apart from it.
  void ctr(Counter first, std::span<const std::byte> in, std::span<std::byte> out) const;

 private:
  kuznyechik::RoundKeys keys_;
};

// out = in XOR keystream, whose last block may be used in part.
void add_keystream(std::span<const kuznyechik::Block> keystream, std::span<const std::byte> in,
                   std::span<std::byte> out);

}  // namespace gpuaes
