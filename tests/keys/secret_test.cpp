// Secrets leave nothing in memory, however their lifetime ends.
#include "keys/secret.hpp"

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/spy.hpp"

namespace gpuaes {
namespace {

void fill(Secret& secret) {
  std::ranges::fill(secret.bytes(), std::byte{0x5a});
}

const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

// Limits how much memory the process can lock, also if root runs it.
class LockLimit {
 public:
  explicit LockLimit(std::size_t size) {
    REQUIRE(syscall(SYS_capget, &header_, capabilities_.data()) == 0);
    auto without = capabilities_;
    without[CAP_TO_INDEX(CAP_IPC_LOCK)].effective &= ~CAP_TO_MASK(CAP_IPC_LOCK);
    REQUIRE(syscall(SYS_capset, &header_, without.data()) == 0);
    REQUIRE(getrlimit(RLIMIT_MEMLOCK, &limit_) == 0);
    const rlimit lower{size, limit_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_MEMLOCK, &lower) == 0);
  }
  ~LockLimit() {
    setrlimit(RLIMIT_MEMLOCK, &limit_);
    syscall(SYS_capset, &header_, capabilities_.data());
  }
  LockLimit(const LockLimit&) = delete;
  LockLimit& operator=(const LockLimit&) = delete;

 private:
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> capabilities_{};
  rlimit limit_{};
};

// The bytes that the process has locked.
std::size_t locked_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::size_t kib = 0;
  while (status >> word)
    if (word == "VmLck:") status >> kib;
  return kib << 10;
}

}  // namespace

TEST_CASE("wiped memory is all zeros, and memory next to it is unchanged") {
  Bytes bytes(100, std::byte{0x5a});
  wipe(std::span(bytes).subspan(1, 98));
  CHECK(bytes.front() == std::byte{0x5a});
  CHECK(bytes.back() == std::byte{0x5a});
  CHECK(std::ranges::count(bytes, std::byte{0}) == 98);
  wipe({});
}

TEST_CASE("a destroyed secret leaves nothing in memory") {
  for (const std::size_t size : {1, 16, 32, 4096, 4097, 100000}) {
    CAPTURE(size);
    std::optional<Secret> secret(std::in_place, size);
    const Spy spy(secret->bytes());
    fill(*secret);
    CHECK(spy.bytes_left() == size);
    secret.reset();
    CHECK(spy.bytes_left() == 0);
  }
}

TEST_CASE("assigning to a secret leaves nothing of the old one in memory") {
  Secret secret(32);
  const Spy old(secret.bytes());
  fill(secret);
  secret = Secret(16);
  CHECK(old.bytes_left() == 0);
  CHECK(secret.size() == 16);
}

TEST_CASE("a moved secret is wiped by its new owner") {
  std::vector<Secret> secrets;
  Secret secret(32);
  const Spy spy(secret.bytes());
  fill(secret);
  for (int i = 0; i < 10; ++i) secrets.emplace_back(8);
  secrets.push_back(std::move(secret));
  CHECK(spy.bytes_left() == 32);
  secrets.clear();
  CHECK(spy.bytes_left() == 0);
}

TEST_CASE("a new secret uses the pages of a destroyed one, and contains zeros", "[optional]") {
  const bool can_lock = GENERATE(true, false);
  CAPTURE(can_lock);
  const std::size_t size = can_lock ? 28'000 : 24'000;  // other test cases use other numbers of pages
  std::optional<LockLimit> limit;
  if (!can_lock) limit.emplace(0);
  std::optional<Secret> secret(std::in_place, size);
  if ((mlock(secret->bytes().data(), size) == 0) != can_lock)
    return skip("memory cannot be locked, or has no limit");
  const Spy spy(secret->bytes());
  fill(*secret);
  secret.reset();
  Secret next(size - 1);
  CHECK(std::ranges::count(next.bytes(), std::byte{0}) == static_cast<std::ptrdiff_t>(size - 1));
  fill(next);
  Secret other(size);
  fill(other);
  CHECK(spy.bytes_left() == size - 1);
}

TEST_CASE("pages that could not be locked are locked for a new secret if that is possible", "[optional]") {
  const std::size_t size = 5 * page;
  {
    const LockLimit limit(0);
    const Secret secret(size);
  }
  const std::size_t before = locked_bytes();
  const Secret secret(size);
  const std::size_t after = locked_bytes();
  if (mlock(secret.bytes().data(), size) != 0 || locked_bytes() < size)  // sanitizers lock nothing
    return skip("memory cannot be locked");
  CHECK(after == before + size);
}

TEST_CASE("the pages of destroyed secrets do not prevent a new one from being locked", "[optional]") {
  const std::size_t size = 6 * page;
  std::optional<Secret> secret(std::in_place, size);
  const std::size_t locked = locked_bytes();
  if (locked < size) return skip("memory cannot be locked");
  secret.reset();
  const LockLimit limit(locked + page);
  const Secret other(size + page);
  CHECK(locked_bytes() >= other.size());
}

TEST_CASE("any number of secrets can exist in many threads") {
  std::vector<std::jthread> threads;
  std::atomic<std::size_t> wrong = 0;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&wrong, mark = static_cast<std::byte>(thread + 1)] {
      for (int round = 0; round < 50; ++round) {
        std::vector<Secret> secrets;
        for (std::size_t i = 0; i < 30; ++i) {
          Secret& secret = secrets.emplace_back(1000 * (i % 5 + 1));
          wrong += secret.size() - static_cast<std::size_t>(std::ranges::count(secret.bytes(), std::byte{0}));
          std::ranges::fill(secret.bytes(), mark);
        }
        for (const Secret& secret : secrets)
          wrong += secret.size() - static_cast<std::size_t>(std::ranges::count(secret.bytes(), mark));
      }
    });
  threads.clear();
  CHECK(wrong == 0);
}

TEST_CASE("shrinking a secret leaves nothing of the removed part in memory") {
  Secret secret(5000);
  const Spy spy(secret.bytes());
  fill(secret);
  secret.shrink(20);
  CHECK(spy.bytes_left() == 20);
  secret.shrink(0);
  CHECK(spy.bytes_left() == 0);
}

}  // namespace gpuaes
