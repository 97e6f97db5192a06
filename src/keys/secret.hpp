// The one type in which secret bytes live: in pages of their own that stay out of swap (mlock) and out of
// core dumps (MADV_DONTDUMP), and that are wiped when it goes, on every way out.
#pragma once

#include <cstddef>
#include <span>

namespace gpuaes {

// Overwrites with zeros in a way the compiler may not leave out.
void wipe(std::span<std::byte> bytes) noexcept;

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::size_t size);  // `size` bytes of zeros; std::bad_alloc. Unlockable memory is no error
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret();

  std::span<std::byte> bytes() noexcept { return {data_, size_}; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  std::size_t size() const noexcept { return size_; }
  void shrink(std::size_t size) noexcept;  // keeps the first `size` bytes, wipes the rest

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace gpuaes
