// Tests sealing and opening on CUDA lanes, and Kuznyechik, against published vectors, the reference and CPU
// lanes. Needs a GPU.
#include <optional>
#include <vector>

#include "cipher/modes/segments.hpp"
#include "lane/aead_checks.hpp"
#include "lane/backends.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/reference_lane.hpp"

namespace gpuaes {
namespace {

template <class Check>
void check_lane(Check check, Cipher cipher = Cipher::aes_256, std::size_t max_bytes = max_checked_bytes) {
  const LaneSpec spec{Backend::cuda, 0u, 1u};
  const LaneSetup setup{.memory = {},
                        .max_in = max_bytes,
                        .max_out = max_bytes,
                        .cipher = cipher,
                        .rules = info(cipher).segments};
  check(*open_lanes({&spec, 1}, setup).at(0));
}

template <class Check>
void check_ciphers(Check check) {
  for (const CipherInfo& each : ciphers) {
    CAPTURE(each.name);
    check_lane([&](Lane& lane) { check(lane, each.cipher); }, each.cipher);
  }
}

}  // namespace

TEST_CASE("a CUDA lane reproduces NIST's AES-GCM vectors", "[gpu][optional]") {
  if (have_nist_vectors()) check_lane(check_cavp);
}

TEST_CASE("a CUDA lane reproduces Wycheproof's AES-GCM vectors", "[gpu]") {
  check_lane(check_wycheproof);
}

TEST_CASE("a CUDA lane reproduces Wycheproof's ChaCha20-Poly1305 vectors", "[gpu]") {
  check_lane(check_wycheproof_chacha20, Cipher::chacha20_poly1305);
}

TEST_CASE("a CUDA lane reproduces the examples of GOST R 34.13-2015 and RFC 9058", "[gpu]") {
  check_lane(check_kuznyechik_ctr_example, Cipher::kuznyechik);
  check_lane(check_mgm_vectors, Cipher::kuznyechik);
}

TEST_CASE("a CUDA lane seals and opens like the reference for every length of the last segment", "[gpu]") {
  check_ciphers(
      [](Lane& lane, Cipher cipher) { check_segment_lengths(lane, *make_reference_lane(), cipher); });
}

TEST_CASE("a CUDA lane derives nonces from segment numbers", "[gpu]") {
  check_ciphers(check_segment_numbering);
}

TEST_CASE("a CUDA lane reports the first bad segment", "[gpu]") {
  check_ciphers(check_bad_segments);
}

TEST_CASE("a CUDA lane authenticates associated data of every length", "[gpu]") {
  check_ciphers([](Lane& lane, Cipher cipher) { check_aad(lane, *make_cpu_lane(), cipher); });
}

TEST_CASE("a CUDA lane runs jobs of all operations and ciphers in any order, with alternating keys",
          "[gpu]") {
  check_lane([](Lane& lane) { check_turns(lane, *make_cpu_lane()); }, Cipher::kuznyechik);
}

TEST_CASE("a job without segments does nothing on a CUDA lane", "[gpu]") {
  check_ciphers(check_job_without_segments);
}

TEST_CASE("a CUDA lane seals and opens many segments in a job, two jobs at a time", "[gpu]") {
  const auto check = [](Lane& lane, Cipher cipher, std::size_t segments) {
    const SegmentRules& rules = info(cipher).segments;
    const std::size_t size = segments * rules.plain_bytes - 5;
    const Bytes plain = test_bytes(size);
    const CipherKey key = some_key(cipher);
    const SegmentParameters stream{key, some_nonce(cipher), 77, test_bytes(16)};
    const Bytes sealed = seal(*make_cpu_lane(), stream, plain, segments);
    CHECK(difference(seal(lane, stream, plain, segments), sealed) == "");

    // Alternates good and bad jobs: each verdict must belong to the job that is finished.
    std::vector<Bytes> inputs(4, sealed), outputs(4, Bytes(size));
    const std::size_t bad = segments / 7;
    inputs[1][bad * rules.sealed_bytes() + 9] ^= std::byte{4};
    inputs[1][(bad + segments / 3) * rules.sealed_bytes()] ^= std::byte{1};
    inputs[2].back() ^= std::byte{1};
    const auto start = [&](std::size_t i) {
      lane.start({.operation = Operation::open,
                  .key = &key,
                  .in = inputs[i],
                  .out = outputs[i],
                  .rules = rules,
                  .base_nonce = stream.base_nonce,
                  .first_segment = stream.first_segment,
                  .aad = stream.aad});
    };
    start(0);
    start(1);
    CHECK_FALSE(lane.finish().has_value());
    start(2);
    CHECK(lane.finish() == std::optional<std::size_t>(bad));
    start(3);
    CHECK(lane.finish() == std::optional<std::size_t>(segments - 1));
    CHECK_FALSE(lane.finish().has_value());
    CHECK(difference(outputs[0], plain) == "");
    CHECK(difference(outputs[3], plain) == "");
  };
  // More segments than any current device has CUDA blocks at a time; with ChaCha20, also as many as several
  // CUDA blocks share.
  for (const auto& [cipher, segments] : {std::pair{Cipher::aes_256, 4000},
                                         {Cipher::kuznyechik, 4000},
                                         {Cipher::chacha20_poly1305, 100},
                                         {Cipher::chacha20_poly1305, 200},
                                         {Cipher::chacha20_poly1305, 1200}})
    check_lane([&](Lane& lane) { check(lane, cipher, static_cast<std::size_t>(segments)); }, cipher,
               static_cast<std::size_t>(segments) * info(cipher).segments.sealed_bytes());
}

TEST_CASE("a CUDA lane's Kuznyechik keystream is its encrypted counters, which carry and wrap", "[gpu]") {
  check_lane(check_kuznyechik_counters, Cipher::kuznyechik, 1 << 17);
}

TEST_CASE("a CUDA lane matches the reference with Kuznyechik for every length", "[gpu]") {
  check_lane(check_kuznyechik_lengths, Cipher::kuznyechik, 1 << 17);
}

TEST_CASE("a CUDA lane increments MGM's counters without a carry between the halves", "[gpu]") {
  check_lane(check_mgm_halves, Cipher::kuznyechik);
}

}  // namespace gpuaes
