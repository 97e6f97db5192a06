// Secrets leave nothing in memory, however their lifetime ends.
#include "keys/secret.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <stdexcept>
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

TEST_CASE("an exception leaves nothing of a secret in memory") {
  std::optional<Spy> spy;
  try {
    Secret secret(32);
    spy.emplace(secret.bytes());
    fill(secret);
    throw std::runtime_error("on the way out");
  } catch (const std::runtime_error&) {
    CHECK(spy->bytes_left() == 0);
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

TEST_CASE("a new secret uses the locked pages of a destroyed one, and contains zeros", "[optional]") {
  constexpr std::size_t size = 28'000;  // other test cases use other numbers of pages
  std::optional<Secret> secret(std::in_place, size);
  if (mlock(secret->bytes().data(), size) != 0) return skip("memory cannot be locked");
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
