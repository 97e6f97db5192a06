// A second mapping of the same memory. It outlives the owner's mapping and shows what the owner left there.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "io/fd.hpp"
#include "support/catch.hpp"

namespace gpuaes {

// Replaces the pages of `memory` with copies in a file, and maps that file a second time.
class Spy {
 public:
  explicit Spy(std::span<std::byte> memory) : memory_(memory) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t before = reinterpret_cast<std::uintptr_t>(memory.data()) % page;
    offset_ = before;
    size_ = (before + memory.size() + page - 1) / page * page;
    std::byte* const pages = memory.data() - before;
    const Fd fd(memfd_create("spy", MFD_CLOEXEC));
    REQUIRE(ftruncate(fd.get(), static_cast<off_t>(size_)) == 0);
    const int access = PROT_READ | PROT_WRITE;
    view_ = mmap(nullptr, size_, access, MAP_SHARED, fd.get(), 0);
    REQUIRE(view_ != MAP_FAILED);
    std::memcpy(view_, pages, size_);
    REQUIRE(mmap(pages, size_, access, MAP_SHARED | MAP_FIXED, fd.get(), 0) == pages);
  }
  ~Spy() { munmap(view_, size_); }
  Spy(const Spy&) = delete;
  Spy& operator=(const Spy&) = delete;

  // The number of nonzero bytes.
  std::size_t bytes_left() const {
    const auto bytes =
        std::span(static_cast<const std::byte*>(view_), size_).subspan(offset_, memory_.size());
    return bytes.size() - static_cast<std::size_t>(std::ranges::count(bytes, std::byte{0}));
  }

 private:
  std::span<std::byte> memory_;
  std::size_t offset_ = 0, size_ = 0;  // of the memory in its pages, and of the pages
  void* view_ = nullptr;
};

}  // namespace gpuaes
