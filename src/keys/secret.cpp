#include "keys/secret.hpp"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>

namespace gpuaes {

void wipe(std::span<std::byte> bytes) noexcept {
  if (!bytes.empty()) explicit_bzero(bytes.data(), bytes.size());
}

namespace {

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::byte* map_pages(std::size_t size) {
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  madvise(data, size, MADV_DONTDUMP);
  return static_cast<std::byte*>(data);
}

// Pages that small secrets share, so that a low RLIMIT_MEMLOCK suffices for many: a page can have 64 KiB.
// They are never unmapped, since mapping and locking them for each part of a file would take most of the time
// of a join.
class SharedPages {
 public:
  // Wiped memory for a secret; empty if it is too large, or if there is no room.
  std::span<std::byte> take(std::size_t size) {
    if (size > slot_bytes()) return {};
    const std::lock_guard lock(mutex_);
    for (Page& page : pages_) {
      if (page.used == all_used()) continue;
      if (page.data == nullptr) page.data = map_pages(page_bytes());
      if (!page.locked) page.locked = mlock(page.data, page_bytes()) == 0;
      const int slot = std::countr_one(page.used);
      page.used |= std::uint64_t{1} << slot;
      return {page.data + static_cast<std::size_t>(slot) * slot_bytes(), slot_bytes()};
    }
    return {};
  }

  // Whether the memory, which has been wiped, came from take().
  bool give_back(const std::byte* memory) noexcept {
    const std::lock_guard lock(mutex_);
    for (Page& page : pages_) {
      if (page.data == nullptr || memory < page.data || memory >= page.data + page_bytes()) continue;
      page.used &= ~(std::uint64_t{1} << static_cast<std::size_t>(memory - page.data) / slot_bytes());
      return true;
    }
    return false;
  }

  // Leaves what RLIMIT_MEMLOCK allows to other pages. Returns whether any were locked.
  bool unlock_unused() noexcept {
    const std::lock_guard lock(mutex_);
    bool any = false;
    for (Page& page : pages_)
      if (page.used == 0 && std::exchange(page.locked, false)) any |= munlock(page.data, page_bytes()) == 0;
    return any;
  }

 private:
  struct Page {
    std::byte* data = nullptr;
    std::uint64_t used = 0;  // a bit for each slot
    bool locked = false;
  };

  // A page has at most 64 slots.
  static std::size_t slot_bytes() { return std::max<std::size_t>(page_bytes() / 64, 256); }
  static std::uint64_t all_used() { return ~std::uint64_t{0} >> (64 - page_bytes() / slot_bytes()); }

  std::mutex mutex_;
  std::array<Page, 64> pages_{};
};

constinit SharedPages shared_pages;

// Threads may still have secrets when the process exits.
static_assert(std::is_trivially_destructible_v<SharedPages>);

// Best effort: a low RLIMIT_MEMLOCK must not prevent anyone from restoring a backup.
void lock(std::span<std::byte> pages) noexcept {
  if (mlock(pages.data(), pages.size()) != 0 && shared_pages.unlock_unused())
    (void)mlock(pages.data(), pages.size());
}

}  // namespace

Secret::Secret(std::size_t size) : size_(size) {
  if (size == 0) return;
  memory_ = shared_pages.take(size);
  if (!memory_.empty()) return;
  const std::size_t page = page_bytes(), rounded = (size + page - 1) / page * page;
  memory_ = {map_pages(rounded), rounded};
  lock(memory_);
}

Secret::Secret(Secret&& other) noexcept
    : memory_(std::exchange(other.memory_, {})), size_(std::exchange(other.size_, 0)) {}

Secret& Secret::operator=(Secret&& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(size_, other.size_);
  return *this;
}

Secret::~Secret() {
  if (memory_.empty()) return;
  wipe(memory_);
  if (!shared_pages.give_back(memory_.data())) munmap(memory_.data(), memory_.size());
}

Secret Secret::copy() const {
  return secret_of(bytes());
}

void Secret::shrink(std::size_t size) noexcept {
  wipe(bytes().subspan(size));
  size_ = size;
}

void Secret::grow(std::size_t size) {
  Secret larger(size);
  std::ranges::copy(bytes(), larger.bytes().begin());
  *this = std::move(larger);
}

Secret secret_of(std::span<const std::byte> bytes) {
  Secret secret(bytes.size());
  std::ranges::copy(bytes, secret.bytes().begin());
  return secret;
}

}  // namespace gpuaes
