// Lanes with Kuznyechik, against the examples of its standards and against each other.
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "catch.hpp"
#include "cipher/kuznyechik.hpp"
#include "kuznyechik_vectors.hpp"
#include "lane/lanes.hpp"
#include "support.hpp"

namespace gpuaes {
namespace {

constexpr std::uint64_t all = ~std::uint64_t{0};
constexpr std::array make_lanes{make_reference_lane, make_cpu_lane};

Bytes ctr(Lane& lane, const CipherKey& key, const CounterBlock& counter, const Bytes& in) {
  Bytes out(in.size(), std::byte{0xa5});
  lane.start({.key = &key, .in = in, .out = out, .counter = counter});
  CHECK_FALSE(lane.finish().has_value());
  return out;
}

}  // namespace

TEST_CASE("every lane encrypts and decrypts the CTR example of GOST R 34.13-2015, A.1.2") {
  const CipherKey key = make_key(from_hex(kuznyechik_key), Cipher::kuznyechik);
  const Bytes plaintext = from_hex(kuznyechik_plaintext);
  const Bytes ciphertext = from_hex(
      "f195d8bec10ed1dbd57b5fa240bda1b8 85eee733f6a13e5df33ce4b33c45dee4"
      "a5eae88be6356ed3d5e877f13564a3a5 cb91fab1f20cbab6d1c6d15820bdba73");
  const CounterBlock counter = counter_block("1234567890abcef00000000000000000");
  for (const auto make_lane : make_lanes) {
    const auto lane = make_lane();
    CAPTURE(lane->name());
    CHECK(difference(ctr(*lane, key, counter, plaintext), ciphertext) == "");
    CHECK(difference(ctr(*lane, key, counter, ciphertext), plaintext) == "");
    for (std::size_t block = 0; block < 4; ++block) {  // each by itself, as a chunk that begins there
      const auto at = static_cast<std::ptrdiff_t>(16 * block);
      const Bytes in(plaintext.begin() + at, plaintext.begin() + at + 16);
      const Bytes out = ctr(*lane, key, store_counter(load_counter(counter) + block), in);
      CHECK(difference(out, std::span(ciphertext).subspan(16 * block, 16)) == "");
    }
  }
}

TEST_CASE("every lane's keystream is the cipher of its counters, which carry out of the low half and wrap") {
  const CipherKey key = make_key(test_bytes(32, 99), Cipher::kuznyechik);
  const kuznyechik::RoundKeys keys = kuznyechik::expand_key(key.bytes.bytes());
  for (const Counter& first : {Counter{5, 0xfffffff0}, Counter{5, all - 40}, Counter{all, all - 1000}}) {
    Bytes keystream;
    for (std::uint64_t i = 0; i < 4097; ++i) {
      const kuznyechik::Block block = kuznyechik::encrypt(keys, store_counter(first + i));
      const auto bytes = std::as_bytes(std::span(block));
      keystream.insert(keystream.end(), bytes.begin(), bytes.end());
    }
    for (const auto make_lane : make_lanes) {
      const auto lane = make_lane();
      CAPTURE(lane->name(), first.high, first.low);
      CHECK(difference(ctr(*lane, key, store_counter(first), Bytes(keystream.size())), keystream) == "");
    }
  }
}

TEST_CASE("the CPU lane does with Kuznyechik what the reference does, for lengths around every boundary") {
  const CipherKey key = make_key(test_bytes(32, 7), Cipher::kuznyechik);
  const auto cpu = make_cpu_lane(), reference = make_reference_lane();
  const CounterBlock counter = store_counter({3, all - 20});
  const Bytes in = test_bytes(65537);
  const Bytes expected = ctr(*reference, key, counter, in);
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i <= 33; ++i) lengths.push_back(i);
  for (const std::size_t around : {64, 128, 256, 512, 1024, 2048, 4096, 65536})
    for (const int by : {-17, -16, -15, -1, 0, 1}) lengths.push_back(around + static_cast<std::size_t>(by));
  for (const std::size_t length : lengths) {
    CAPTURE(length);
    const Bytes out = ctr(*cpu, key, counter, Bytes(in.begin(), in.begin() + static_cast<long>(length)));
    CHECK(difference(out, std::span(expected).first(length)) == "");
  }
}

TEST_CASE("a lane with Kuznyechik works at any address, in place, and writes nothing beside its output") {
  const CipherKey key = make_key(test_bytes(32), Cipher::kuznyechik);
  const Bytes expected = ctr(*make_reference_lane(), key, {}, test_bytes(1003));
  for (const auto make_lane : make_lanes)
    for (const std::size_t shift : {0, 1, 3, 8, 15}) {
      const auto lane = make_lane();
      CAPTURE(lane->name(), shift);
      Bytes bytes(shift, std::byte{0xa5});
      bytes.resize(shift + 1003);
      std::ranges::copy(test_bytes(1003), bytes.begin() + static_cast<long>(shift));
      bytes.resize(shift + 1003 + 64, std::byte{0xa5});
      const auto part = std::span(bytes).subspan(shift, 1003);
      lane->start({.key = &key, .in = part, .out = part});
      CHECK_FALSE(lane->finish().has_value());
      CHECK(difference(part, expected) == "");
      CHECK(std::ranges::count(bytes, std::byte{0xa5}) >= 64 + static_cast<long>(shift));
      CHECK(difference(std::span(bytes).last(64), Bytes(64, std::byte{0xa5})) == "");
    }
}

TEST_CASE("jobs of Kuznyechik and AES may come in turn, with several keys of 32 bytes") {
  const CipherKey keys[] = {make_key(test_bytes(32, 1), Cipher::kuznyechik), make_key(test_bytes(32, 1)),
                            make_key(test_bytes(32, 2), Cipher::kuznyechik)};
  const Jitter random(5);
  const auto cpu = make_cpu_lane(), reference = make_reference_lane();
  for (int i = 0; i < 200; ++i) {
    const CipherKey& key = keys[random.random() % 3];
    const CounterBlock counter = store_counter({random.random(), random.random()});
    const Bytes in = test_bytes(random.random() % 600);
    CAPTURE(i, info(key.cipher).name, in.size());
    CHECK(difference(ctr(*cpu, key, counter, in), ctr(*reference, key, counter, in)) == "");
  }
}

}  // namespace gpuaes
