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
#include "support/bytes.hpp"

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

// Segments as the reference seals them: seal(i, is_last, plain, ciphertext, tag) does so with segment i. The
// last one may be full.
template <class Seal>
Bytes seal_all(const Bytes& plain, std::size_t segment, Seal seal) {
  const std::size_t count = std::max<std::size_t>((plain.size() + segment - 1) / segment, 1);
  Bytes sealed(plain.size() + count * tag_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const auto part =
        std::span(plain).subspan(i * segment).first(std::min(segment, plain.size() - i * segment));
    const auto out = std::span(sealed).subspan(i * (segment + tag_bytes));
    seal(i, i + 1 == count, part, out.first(part.size()), out.subspan(part.size(), tag_bytes));
  }
  return sealed;
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
