// The type that secrets live in: nothing of them is left in memory, on every way out.
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

TEST_CASE("memory that is wiped is zeros, and what is next to it stays") {
  Bytes bytes(100, std::byte{0x5a});
  wipe(std::span(bytes).subspan(1, 98));
  CHECK(bytes.front() == std::byte{0x5a});
  CHECK(bytes.back() == std::byte{0x5a});
  CHECK(std::ranges::count(bytes, std::byte{0}) == 98);
  wipe({});
}

TEST_CASE("a secret that is destroyed leaves nothing in memory") {
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

TEST_CASE("a secret that is assigned another leaves nothing of the old one in memory") {
  Secret secret(32);
  const Spy old(secret.bytes());
  fill(secret);
  secret = Secret(16);
  CHECK(old.bytes_left() == 0);
  CHECK(secret.size() == 16);
}

TEST_CASE("a secret that has moved is wiped where it went") {
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

TEST_CASE("a secret that shrinks leaves nothing of its end in memory") {
  Secret secret(5000);
  const Spy spy(secret.bytes());
  fill(secret);
  secret.shrink(20);
  CHECK(spy.bytes_left() == 20);
  secret.shrink(0);
  CHECK(spy.bytes_left() == 0);
}

}  // namespace gpuaes
