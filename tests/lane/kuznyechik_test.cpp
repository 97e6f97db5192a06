// CPU lanes with Kuznyechik, compared with the examples in its standards and with each other.
#include <algorithm>
#include <array>
#include <memory>

#include "cipher/modes/mgm_cpu.hpp"
#include "lane/backends.hpp"
#include "lane/kuznyechik_checks.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/keys.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

constexpr std::array make_lanes{make_reference_lane, make_cpu_lane};

template <class Check>
void check_lanes(Check check) {
  for (const auto make_lane : make_lanes) {
    const auto lane = make_lane();
    CAPTURE(lane->name());
    check(*lane);
  }
}

}  // namespace

TEST_CASE("every lane encrypts and decrypts the CTR example of GOST R 34.13-2015, A.1.2") {
  check_lanes(check_kuznyechik_ctr_example);
}

TEST_CASE("every lane's keystream is its encrypted counters, which carry out of the low half and wrap") {
  check_lanes(check_kuznyechik_counters);
}

TEST_CASE("the CPU lane matches the reference with Kuznyechik at lengths around every boundary") {
  check_kuznyechik_lengths(*make_cpu_lane());
}

TEST_CASE("a lane with Kuznyechik works at any address and in place, and writes only its output") {
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

TEST_CASE("jobs with Kuznyechik and AES may alternate, with several keys of 32 bytes") {
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

TEST_CASE("every lane passes the vectors of RFC 9058, A.1, for MGM with Kuznyechik") {
  check_lanes(check_mgm_vectors);
}

TEST_CASE("the CPU lane seals with Kuznyechik like the reference, and each opens what the other sealed") {
  check_mgm_lengths(*make_cpu_lane());
}

TEST_CASE("every lane puts segment numbers into the nonce and keeps its highest bit clear") {
  check_lanes(check_mgm_numbering);
}

TEST_CASE("in the CPU lane, MGM's counters and factors do not carry between the halves of a block") {
  check_mgm_halves(*make_cpu_lane());
}

TEST_CASE("every lane finds the first bad segment with Kuznyechik") {
  check_lanes(check_mgm_bad_segments);
}

TEST_CASE("the CPU lane, which opens several segments at a time, finds the first of two bad ones") {
  const CipherKey key = make_key(test_bytes(32, 7), Cipher::kuznyechik);
  const MgmStream stream{key, mgm_nonce, 9};
  constexpr std::size_t count = 2 * MgmCpu::max_segments + 3;
  const Bytes plain = test_bytes((count - 1) * segment_bytes + 33);
  const auto lane = make_cpu_lane();
  const Bytes sealed = mgm_seal(*lane, stream, plain, count);
  for (std::size_t bad = 0; bad < count; ++bad) {
    CAPTURE(bad);
    Bytes changed = sealed;
    changed[bad * sealed_segment_bytes] ^= std::byte{1};
    changed.back() ^= std::byte{1};
    check_mgm_opens_before(*lane, stream, changed, plain, bad);
  }
}

TEST_CASE("jobs of every operation and cipher may run in any order") {
  check_turns_with_kuznyechik(*make_cpu_lane());
}

}  // namespace gpuaes
