// Secret, the type that holds all secret bytes. Its memory is kept out of swap (mlock) and core dumps
// (MADV_DONTDUMP) if possible, and is wiped on destruction. Small secrets share pages.
#pragma once

#include <cstddef>
#include <span>

namespace gpuaes {

// Overwrites with zeros. The compiler cannot optimize this away.
void wipe(std::span<std::byte> bytes) noexcept;

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::size_t size);  // `size` zero bytes; std::bad_alloc
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret();
  Secret copy() const;  // explicit, so that no copy is made by mistake

  std::span<std::byte> bytes() noexcept { return {memory_.data(), size_}; }
  std::span<const std::byte> bytes() const noexcept { return {memory_.data(), size_}; }
  std::size_t size() const noexcept { return size_; }
  void shrink(std::size_t size) noexcept;  // keeps the first `size` bytes, wipes the rest
  void grow(std::size_t size);             // keeps the bytes, and adds zeros; std::bad_alloc

 private:
  std::span<std::byte> memory_;  // whole pages, or a part of a shared one
  std::size_t size_ = 0;
};

// A secret with a copy of these bytes. std::bad_alloc.
Secret secret_of(std::span<const std::byte> bytes);

}  // namespace gpuaes
