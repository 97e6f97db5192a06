// A second mapping of the same memory. It outlives the owner's mapping and shows what the owner left there.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "io/fd.hpp"
#include "support/catch.hpp"

namespace gpuaes {

// Replaces the pages of `memory`, which must be page-aligned, with those of a file, and maps that file a
// second time. The content of the memory is lost.
class Spy {
 public:
  explicit Spy(std::span<std::byte> memory) : size_(memory.size()) {
    const Fd fd(memfd_create("spy", MFD_CLOEXEC));
    REQUIRE(ftruncate(fd.get(), static_cast<off_t>(size_)) == 0);
    const int access = PROT_READ | PROT_WRITE;
    REQUIRE(mmap(memory.data(), size_, access, MAP_SHARED | MAP_FIXED, fd.get(), 0) == memory.data());
    view_ = mmap(nullptr, size_, access, MAP_SHARED, fd.get(), 0);
    REQUIRE(view_ != MAP_FAILED);
  }
  ~Spy() { munmap(view_, size_); }
  Spy(const Spy&) = delete;
  Spy& operator=(const Spy&) = delete;

  // The number of nonzero bytes.
  std::size_t bytes_left() const {
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(view_), size_);
    return size_ - static_cast<std::size_t>(std::ranges::count(bytes, std::byte{0}));
  }

 private:
  void* view_ = nullptr;
  std::size_t size_;
};

}  // namespace gpuaes
