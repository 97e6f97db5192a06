// Checks that kernels are correct before they are timed.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "bench/subjects.hpp"

namespace gpuaes::cuda {

// Compares kernels with CPU lanes. For AES, CPU lanes use libcrypto, which shares no code with the kernels or
// their key expansion; for Kuznyechik, they share the standard's tables and the key expansion.
class Reference {
 public:
  explicit Reference(const BenchData& data) : data_(data) {}

  // The number of bytes that every kernel is checked with: 64 MiB plus, except in ECB mode, a partial block.
  static std::size_t size_for(KernelMode mode);

  // LaneError with the kernel's name if its output for the first `size` bytes of the data is wrong. Each
  // cipher must always be used with the same key.
  void check(const Subject& subject, const BenchKernel& kernel, const BenchKey& key, std::size_t size,
             const Stream& stream);

 private:
  bool agrees(const BenchKernel& kernel, const BenchKey& key, std::size_t size, const Stream& stream);
  std::vector<std::byte> make(KernelMode mode, const BenchKey& key, std::size_t size) const;
  // The result for size_for() is kept.
  std::vector<std::byte> expected(KernelMode mode, const BenchKey& key, std::size_t size);

  const BenchData& data_;
  std::map<std::pair<Cipher, KernelMode>, std::vector<std::byte>> made_;
};

}  // namespace gpuaes::cuda
