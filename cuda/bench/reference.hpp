// Whether kernels are right, before anything is timed.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "bench/subjects.hpp"

namespace gpuaes::cuda {

// What CPU lanes make. That of AES is libcrypto's, which shares no line with the kernels, nor their key
// expansion; that of Kuznyechik shares the tables of the standard and its key expansion.
class Reference {
 public:
  explicit Reference(const BenchData& data) : data_(data) {}

  // Bytes that every kernel is checked with: 64 MiB, and but for ECB a part of a block.
  static std::size_t size_for(KernelMode mode);

  // LaneError, with the name, where the kernel makes anything else of the first `size` bytes of the data. One
  // key for each cipher.
  void check(const Subject& subject, const BenchKernel& kernel, const BenchKey& key, std::size_t size,
             const Stream& stream);

 private:
  bool agrees(const BenchKernel& kernel, const BenchKey& key, std::size_t size, const Stream& stream);
  std::vector<std::byte> make(KernelMode mode, const BenchKey& key, std::size_t size) const;
  // That of size_for() is made once.
  std::vector<std::byte> expected(KernelMode mode, const BenchKey& key, std::size_t size);

  const BenchData& data_;
  std::map<std::pair<Cipher, KernelMode>, std::vector<std::byte>> made_;
};

}  // namespace gpuaes::cuda
