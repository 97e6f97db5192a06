// Multiplication in the field of MGM, and MGM on CPU lanes against the reference.
#include "cipher/modes/mgm.hpp"

#include <random>
#include <vector>

#include "cipher/modes/mgm_cpu.hpp"
#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/counters.hpp"
#include "support/reference_aeads.hpp"
#include "support/single_mgm.hpp"

namespace gpuaes {
namespace {

using ghash::Element;
using kuznyechik::Block;

// Bit k is the coefficient of x^k.
struct Number {
  std::uint64_t high, low;
};

Number number(const Element& element) {
  const std::uint32_t* const w = element.words;
  return {std::uint64_t{w[3]} << 32 | w[2], std::uint64_t{w[1]} << 32 | w[0]};
}

// The product, computed bit by bit.
Number product(Number a, Number b) {
  Number sum{0, 0};
  for (int k = 127; k >= 0; --k) {
    const bool out = sum.high >> 63;
    sum = {sum.high << 1 | sum.low >> 63, sum.low << 1 ^ (out ? 0x87u : 0u)};
    if ((k >= 64 ? a.high >> (k - 64) : a.low >> k) & 1) sum = {sum.high ^ b.high, sum.low ^ b.low};
  }
  return sum;
}

Element random_element(std::mt19937& random) {
  Element element;
  for (std::uint32_t& word : element.words) word = static_cast<std::uint32_t>(random());
  return element;
}

void check_product(const Element& a, const Element& b) {
  mgm::Product sum{};
  mgm::add_product(a, b, sum);
  const Number got = number(mgm::reduce(sum)), expected = product(number(a), number(b));
  CHECK(got.high == expected.high);
  CHECK(got.low == expected.low);
}

}  // namespace

TEST_CASE("MGM's product matches bit-by-bit multiplication in its field") {
  std::mt19937 random(1);
  for (int i = 0; i < 128; ++i)
    for (int k = 0; k < 128; k += 7) {
      Element a{}, b{};
      a.words[i / 32] = 1u << i % 32;
      b.words[k / 32] = 1u << k % 32;
      check_product(a, b);
    }
  for (int i = 0; i < 1000; ++i) check_product(random_element(random), random_element(random));
  constexpr std::uint32_t ones = 0xffffffff;
  check_product({{ones, ones, ones, ones}}, {{ones, ones, ones, ones}});
}

TEST_CASE("sums of products are the same with and without PCLMULQDQ, for any length of the last block") {
  std::mt19937 random(2);
  std::vector<Block> factors(33);
  for (Block& factor : factors)
    for (std::uint8_t& byte : factor) byte = static_cast<std::uint8_t>(random());
  for (std::size_t size = 0; size <= factors.size() * 16; ++size) {
    const Bytes bytes = test_bytes(size, size);
    const auto used = std::span(factors).first((size + 15) / 16);
    mgm::Product sum{{1, 2, 3, 4, 5, 6, 7, 8}}, portable = sum, expected = sum;
    add_products(used, bytes, sum);
    add_products_portable(used, bytes, portable);
    for (std::size_t i = 0; i < used.size(); ++i) {
      Bytes block(bytes.begin() + static_cast<long>(16 * i), bytes.end());
      block.resize(16);
      const auto* const in = reinterpret_cast<const std::uint8_t*>(block.data());
      mgm::add_product(ghash::load_bytes(used[i].data()), ghash::load_bytes(in), expected);
    }
    CAPTURE(size);
    const auto a = number(mgm::reduce(sum)), b = number(mgm::reduce(portable)),
               c = number(mgm::reduce(expected));
    CHECK((a.high == c.high && a.low == c.low));
    CHECK((b.high == c.high && b.low == c.low));
  }
}

TEST_CASE("MGM's counters do not carry out of their half of a block") {
  CHECK(store_counter(mgm::next_counter({5, all})) == store_counter({5, 0}));
  CHECK(store_counter(mgm::next_factor({all, 5})) == store_counter({0, 5}));
}

TEST_CASE(
    "segments processed together match segments processed one by one, and the first bad tag is reported") {
  const Bytes key = test_bytes(32, 3), aad = test_bytes(41, 2);
  const mgm::Mgm reference(key);
  const MgmCpu cpu(key);
  for (std::size_t count = 0; count <= MgmCpu::max_segments; ++count) {
    CAPTURE(count);
    std::vector<Bytes> plain, sealed, expected, opened;
    std::vector<Segment<std::byte, const std::byte>> to_seal;
    std::vector<Segment<const std::byte, std::byte>> to_open;
    for (std::size_t i = 0; i < count; ++i) {
      plain.push_back(test_bytes(37 * i * count % 1000, i));
      sealed.emplace_back(plain[i].size() + tag_bytes);
      expected.push_back(sealed[i]);
      opened.emplace_back(plain[i].size());
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Nonce nonce = segment_nonce({counter_block("7edcba98765432100123456789abcdef"), 16}, i);
      to_seal.push_back({.nonce = nonce, .sealed = sealed[i], .plain = plain[i]});
      to_open.push_back({.nonce = nonce, .sealed = sealed[i], .plain = opened[i]});
      const std::span out(expected[i]);
      reference.seal(nonce, aad, plain[i], out.first(plain[i].size()), out.subspan(plain[i].size()));
    }
    cpu.seal(aad, to_seal);
    CHECK(sealed == expected);
    CHECK(cpu.open(aad, to_open) == std::nullopt);
    CHECK(opened == plain);
    for (std::size_t bad = count; bad-- > 0;) {
      sealed[bad][bad % sealed[bad].size()] ^= std::byte{1};
      CHECK(cpu.open(aad, to_open) == bad);
    }
  }
}

}  // namespace gpuaes
