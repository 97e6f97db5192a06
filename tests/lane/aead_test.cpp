// Lanes that seal and open segments, compared with published vectors and with each other; and counter
// mode.
#include <span>

#include "cipher/modes/mgm_cpu.hpp"
#include "cipher/modes/segments.hpp"
#include "lane/aead_checks.hpp"
#include "lane/backends.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/cpu_lanes.hpp"
#include "support/reference_lane.hpp"

namespace gpuaes {
namespace {

template <class Check>
void for_each_lane(Check check) {
  for (const auto& [name, make_lane] : all_lanes()) {
    CAPTURE(name);
    check(*make_lane());
  }
}

template <class Check>
void for_each_lane_and_cipher(Check check) {
  for (const CipherInfo& each : ciphers) {
    CAPTURE(each.name);
    for_each_lane([&](Lane& lane) { check(lane, each.cipher); });
  }
}

template <class Check>
void for_each_cpu_lane_and_cipher(Check check) {
  for (const auto& [name, make_lane] : cpu_lanes())
    for (const CipherInfo& each : ciphers) {
      CAPTURE(name, each.name);
      check(*make_lane(), each.cipher);
    }
}

}  // namespace

TEST_CASE("every lane passes NIST's vectors for AES-GCM", "[optional]") {
  if (have_nist_vectors()) for_each_lane(check_cavp);
}

TEST_CASE("every lane passes Wycheproof's vectors for AES-GCM") {
  for_each_lane(check_wycheproof);
}

TEST_CASE("every lane passes Wycheproof's vectors for ChaCha20-Poly1305") {
  for_each_lane(check_wycheproof_chacha20);
}

TEST_CASE("every lane passes the vectors of RFC 9058, A.1, for MGM with Kuznyechik") {
  for_each_lane(check_mgm_vectors);
}

TEST_CASE("CPU lanes seal and open like the reference, whatever the length of the last segment") {
  for_each_cpu_lane_and_cipher(
      [](Lane& lane, Cipher cipher) { check_segment_lengths(lane, *make_reference_lane(), cipher); });
}

TEST_CASE("every lane derives nonces from the numbers of segments") {
  for_each_lane_and_cipher(check_segment_numbering);
}

TEST_CASE("every lane finds the first bad segment") {
  for_each_lane_and_cipher(check_bad_segments);
}

TEST_CASE("every lane authenticates associated data of any length") {
  for_each_cpu_lane_and_cipher(
      [](Lane& lane, Cipher cipher) { check_aad(lane, *make_reference_lane(), cipher); });
}

TEST_CASE("jobs of every operation and cipher may run in any order, with several keys") {
  for (const auto& [name, make_lane] : cpu_lanes()) check_turns(*make_lane(), *make_reference_lane());
}

TEST_CASE("a job without segments does nothing") {
  for_each_lane_and_cipher(check_job_without_segments);
}

TEST_CASE("a lane seals and opens at any address, and writes only its output") {
  for_each_lane_and_cipher([](Lane& lane, Cipher cipher) {
    const CipherKey key = some_key(cipher);
    const SegmentParameters stream{key};
    const Bytes plain = test_bytes(stream.rules().plain_bytes + 100);
    const Bytes sealed = seal(*make_cpu_lane(), stream, plain, 2);
    for (const Operation operation : {Operation::seal, Operation::open})
      for (const std::size_t shift : {1, 3, 8, 15}) {
        CAPTURE(operation, shift);
        const Bytes in = joined(Bytes(shift), operation == Operation::seal ? plain : sealed);
        const Bytes& result = operation == Operation::seal ? sealed : plain;
        Bytes out(result.size() + 128, std::byte{0xa5});
        lane.start({.operation = operation,
                    .key = &key,
                    .in = std::span(in).subspan(shift),
                    .out = std::span(out).subspan(64 - shift, result.size()),
                    .rules = stream.rules(),
                    .base_nonce = stream.base_nonce});
        CHECK_FALSE(lane.finish().has_value());
        const Bytes before(64 - shift, std::byte{0xa5}), after(64 + shift, std::byte{0xa5});
        CHECK(difference(out, joined(joined(before, result), after)) == "");
      }
  });
}

TEST_CASE(
    "the CPU lane, which opens several segments with Kuznyechik at a time, finds the first of two bad ones") {
  const CipherKey key = some_key(Cipher::kuznyechik);
  const SegmentParameters stream{key};
  constexpr std::size_t count = 2 * MgmCpu::max_segments + 3;
  const Bytes plain = test_bytes((count - 1) * segment_bytes + 33);
  const auto lane = make_cpu_lane();
  const Bytes sealed = seal(*lane, stream, plain, count);
  for (std::size_t bad = 0; bad < count; ++bad) {
    CAPTURE(bad);
    Bytes changed = sealed;
    changed[bad * sealed_segment_bytes] ^= std::byte{1};
    changed.back() ^= std::byte{1};
    check_opens_before(*lane, stream, changed, plain, bad);
  }
}

TEST_CASE("in the CPU lane, MGM's counters and factors do not carry between the halves of a block") {
  check_mgm_halves(*make_cpu_lane());
}

// Counter mode -------------------------------------------------------------------------------------

TEST_CASE("every lane encrypts and decrypts the CTR example of GOST R 34.13-2015, A.1.2") {
  for_each_lane(check_kuznyechik_ctr_example);
}

TEST_CASE("every lane's keystream is its encrypted counters, which carry out of the low half and wrap") {
  for_each_lane(check_kuznyechik_counters);
}

TEST_CASE("the CPU lane matches the reference with Kuznyechik at lengths around every boundary") {
  check_kuznyechik_lengths(*make_cpu_lane());
}

TEST_CASE("in counter mode, a lane works at any address and in place, and writes only its output") {
  for_each_lane_and_cipher([](Lane& lane, Cipher cipher) {
    if (!info(cipher).ctr) return;
    const CipherKey key = some_key(cipher);
    for (const std::size_t size : {0, 1, 15, 16, 17, 100, 4097})
      for (const std::size_t shift : {0, 1, 3, 8, 15})
        for (const bool in_place : {false, true}) {
          CAPTURE(size, shift, in_place);
          const Bytes before(shift, std::byte{0xa5}), after(64, std::byte{0xa5}), in = test_bytes(size);
          const Bytes memory = joined(Bytes(15 - shift), in);
          const Bytes expected = ctr(*make_reference_lane(), key, {}, in);
          Bytes out = joined(joined(before, in_place ? in : Bytes(size)), after);
          const auto part = std::span(out).subspan(shift, size);
          const auto other = std::span(memory).subspan(15 - shift);
          lane.start({.key = &key, .in = in_place ? part : other, .out = part});
          CHECK_FALSE(lane.finish().has_value());
          CHECK(difference(out, joined(joined(before, expected), after)) == "");
        }
  });
}

}  // namespace gpuaes
