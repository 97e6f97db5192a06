#include "keys/secret.hpp"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>

namespace gpuaes {

void wipe(std::span<std::byte> bytes) noexcept {
  if (!bytes.empty()) explicit_bzero(bytes.data(), bytes.size());
}

Secret::Secret(std::size_t size) : size_(size) {
  if (size == 0) return;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mapped_ = (size + page - 1) / page * page;
  void* pages = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(pages);
  // Best effort: a low RLIMIT_MEMLOCK must not prevent anyone from restoring a backup.
  mlock(pages, mapped_);
  madvise(pages, mapped_, MADV_DONTDUMP);
}

Secret::Secret(Secret&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

Secret& Secret::operator=(Secret&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

Secret::~Secret() {
  if (data_ == nullptr) return;
  wipe({data_, mapped_});
  munmap(data_, mapped_);
}

Secret Secret::copy() const {
  return secret_of(bytes());
}

void Secret::shrink(std::size_t size) noexcept {
  wipe(bytes().subspan(size));
  size_ = size;
}

Secret secret_of(std::span<const std::byte> bytes) {
  Secret secret(bytes.size());
  std::ranges::copy(bytes, secret.bytes().begin());
  return secret;
}

}  // namespace gpuaes
