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

// Sanitizers lock nothing.
bool can_lock() {
  const std::size_t before = locked_bytes();
  void* const memory = mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  const bool can = mlock(memory, page) == 0 && locked_bytes() == before + page;
  munmap(memory, page);
  return can;
}

// Small secrets, more than fit in a few pages.
constexpr std::size_t many = 200;

std::vector<Secret> make_secrets(std::size_t count, std::size_t size) {
  std::vector<Secret> secrets;
  for (std::size_t i = 0; i < count; ++i) secrets.emplace_back(size);
  return secrets;
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
  for (const std::size_t size : {1, 16, 32, 256, 257, 1024, 1025, 4096, 4097, 100000}) {
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

TEST_CASE("a small secret uses the memory of a destroyed one, and contains zeros") {
  std::optional<Secret> secret(std::in_place, 100);
  std::byte* const memory = secret->bytes().data();
  fill(*secret);
  secret.reset();
  Secret next(99);
  CHECK(next.bytes().data() == memory);
  CHECK(std::ranges::count(next.bytes(), std::byte{0}) == 99);
  fill(next);
  Secret other(100);
  fill(other);
  CHECK(std::ranges::count(next.bytes(), std::byte{0x5a}) == 99);
}

TEST_CASE("secrets in one page do not touch each other") {
  std::vector<Secret> secrets;
  for (std::size_t i = 0; i < many; ++i) fill(secrets.emplace_back(i % 300));
  for (std::size_t i = 0; i < many; i += 2) secrets[i] = Secret();
  for (std::size_t i = 1; i < many; i += 2)
    CHECK(std::ranges::count(secrets[i].bytes(), std::byte{0x5a}) == static_cast<std::ptrdiff_t>(i % 300));
}

TEST_CASE("small secrets share locked pages", "[optional]") {
  if (!can_lock()) return skip("memory cannot be locked");
  const std::size_t before = locked_bytes();
  const std::vector<Secret> secrets = make_secrets(many, 32);
  CHECK(locked_bytes() >= many * 32);
  CHECK(locked_bytes() - before <= many * 32 * 8 + page);
}

TEST_CASE("pages that could not be locked are locked for a new secret if that is possible", "[optional]") {
  std::vector<Secret> secrets;
  std::size_t before = 0;
  {
    const LockLimit limit(0);
    secrets = make_secrets(2 * many, 32);  // more than earlier test cases had
    before = locked_bytes();
    secrets.pop_back();
  }
  if (!can_lock()) return skip("memory cannot be locked");
  const Secret secret(32);
  CHECK(locked_bytes() == before + page);
}

TEST_CASE("the pages of destroyed secrets do not prevent a large one from being locked", "[optional]") {
  std::vector<Secret> secrets = make_secrets(many, 32);
  if (!can_lock()) return skip("memory cannot be locked");
  const std::size_t locked = locked_bytes();
  REQUIRE(locked >= 3 * page);
  secrets.clear();
  const LockLimit limit(locked);
  const Secret other(3 * page);
  CHECK(locked_bytes() <= locked);
  CHECK(munlock(other.bytes().data(), other.size()) == 0);
  CHECK(locked_bytes() <= locked - 3 * page);
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
