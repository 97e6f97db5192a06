// Helpers for tests that run whole kernels on the host.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.hpp"
#include "support/aes_reference.hpp"

namespace gpuaes::cuda {

// Bytes aligned like words of 16 bytes, followed by guard words that must stay unchanged.
class Buffer {
 public:
  explicit Buffer(std::size_t size) : size_(size), words_((size + 15) / 16 + 4, uint4{~0u, ~0u, ~0u, ~0u}) {}
  explicit Buffer(const Bytes& bytes) : Buffer(bytes.size()) { std::ranges::copy(bytes, data()); }

  std::byte* data() { return reinterpret_cast<std::byte*>(words_.data()); }
  std::uint32_t* words() { return reinterpret_cast<std::uint32_t*>(words_.data()); }
  Bytes bytes() { return {data(), data() + size_}; }
  bool is_whole() const {
    return std::all_of(words_.end() - 4, words_.end(), [](const uint4& word) { return word.x == ~0u; });
  }

 private:
  std::size_t size_;
  std::vector<uint4> words_;
};

inline Bytes counted_bytes(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 251);
  return bytes;
}

inline bool is_zero(std::span<const uint4> memory) {
  return std::ranges::all_of(memory, [](const uint4& w) { return (w.x | w.y | w.z | w.w) == 0; });
}

inline PublicData public_data(const Bytes& bytes) {
  PublicData data;
  data.size = static_cast<std::uint32_t>(bytes.size());
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(data.words)).begin());
  return data;
}

}  // namespace gpuaes::cuda
