#include "keys/secret.hpp"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

namespace gpuaes {

void wipe(std::span<std::byte> bytes) noexcept {
  if (!bytes.empty()) explicit_bzero(bytes.data(), bytes.size());
}

namespace {

// Pages of destroyed secrets, wiped. A join of many parts makes secrets for each part, and mapping, locking
// and unmapping their pages would take most of its time.
class SparePages {
 public:
  // Locked ones if possible. Nothing if there are none of that size.
  SecretPages take(std::size_t size) noexcept {
    const std::lock_guard lock(mutex_);
    auto found = std::ranges::find_if(
        pages_, [size](const SecretPages& pages) { return pages.size == size && pages.locked; });
    if (found == pages_.end()) found = std::ranges::find(pages_, size, &SecretPages::size);
    return found != pages_.end() ? std::exchange(*found, {}) : SecretPages{};
  }

  // Returns false if there is no room for them.
  bool keep(const SecretPages& pages) noexcept {
    const std::lock_guard lock(mutex_);
    const auto room = std::ranges::find(pages_, nullptr, &SecretPages::data);
    if (room == pages_.end()) return false;
    *room = pages;
    return true;
  }

  // Leaves what RLIMIT_MEMLOCK allows to other pages. Returns whether any were locked.
  bool unlock() noexcept {
    const std::lock_guard lock(mutex_);
    bool any = false;
    for (SecretPages& pages : pages_)
      if (std::exchange(pages.locked, false)) any |= munlock(pages.data, pages.size) == 0;
    return any;
  }

 private:
  std::mutex mutex_;
  std::array<SecretPages, 64> pages_{};
};

constexpr std::size_t max_spare_bytes = 32 << 10;  // of one secret
constinit SparePages spare_pages;

// Threads may still have secrets when the process exits.
static_assert(std::is_trivially_destructible_v<SparePages>);

SecretPages map_pages(std::size_t size) {
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  madvise(data, size, MADV_DONTDUMP);
  return {static_cast<std::byte*>(data), size, false};
}

// Best effort: a low RLIMIT_MEMLOCK must not prevent anyone from restoring a backup.
bool lock_pages(const SecretPages& pages) noexcept {
  return mlock(pages.data, pages.size) == 0 || (spare_pages.unlock() && mlock(pages.data, pages.size) == 0);
}

}  // namespace

Secret::Secret(std::size_t size) : size_(size) {
  if (size == 0) return;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t rounded = (size + page - 1) / page * page;
  pages_ = spare_pages.take(rounded);
  if (pages_.data == nullptr) pages_ = map_pages(rounded);
  if (!pages_.locked) pages_.locked = lock_pages(pages_);
}

Secret::Secret(Secret&& other) noexcept
    : pages_(std::exchange(other.pages_, {})), size_(std::exchange(other.size_, 0)) {}

Secret& Secret::operator=(Secret&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(size_, other.size_);
  return *this;
}

Secret::~Secret() {
  if (pages_.data == nullptr) return;
  wipe({pages_.data, pages_.size});
  if (pages_.size <= max_spare_bytes && spare_pages.keep(pages_)) return;
  munmap(pages_.data, pages_.size);
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
