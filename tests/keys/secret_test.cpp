// Secrets leave nothing in memory, however their lifetime ends.
#include "keys/secret.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
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
