// Tests Kuznyechik on CUDA lanes against the examples of its standards, the reference and CPU lanes. Needs a
// GPU.
#include <optional>
#include <utility>
#include <vector>

#include "lane/backends.hpp"
#include "lane/kuznyechik_checks.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/keys.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t max_bytes = 1 << 17;

template <class Check>
void check_lane(Check check, std::size_t most = max_bytes) {
  const LaneSpec spec{Backend::cuda, 0u, 1u};
  const LaneSetup setup{.memory = {}, .max_in = most, .max_out = most, .cipher = Cipher::kuznyechik};
  check(*open_lanes({&spec, 1}, setup).at(0));
}

}  // namespace

TEST_CASE("a CUDA lane reproduces the examples of GOST R 34.13-2015 and RFC 9058", "[gpu]") {
  check_lane(check_kuznyechik_ctr_example);
  check_lane(check_mgm_vectors);
}

TEST_CASE("a CUDA lane's Kuznyechik keystream is its encrypted counters, which carry and wrap", "[gpu]") {
  check_lane(check_kuznyechik_counters);
}

TEST_CASE("a CUDA lane matches the reference with Kuznyechik for every length", "[gpu]") {
  check_lane(check_kuznyechik_lengths);
  check_lane(check_mgm_lengths);
}

TEST_CASE("a CUDA lane puts Kuznyechik's segment numbers into the nonce and leaves its highest bit clear",
          "[gpu]") {
  check_lane(check_mgm_numbering);
}

TEST_CASE("a CUDA lane increments MGM's counters without a carry between the halves", "[gpu]") {
  check_lane(check_mgm_halves);
}

TEST_CASE("a CUDA lane reports the first bad segment with Kuznyechik", "[gpu]") {
  check_lane(check_mgm_bad_segments);
}

TEST_CASE("a CUDA lane runs jobs of all operations and ciphers in any order", "[gpu]") {
  check_lane(check_turns_with_kuznyechik);
}

TEST_CASE("a CUDA lane authenticates associated data of every length with Kuznyechik", "[gpu]") {
  const CipherKey key = make_key(test_bytes(32), Cipher::kuznyechik);
  const Bytes plain = test_bytes(segment_bytes + 100);
  const auto cpu = make_cpu_lane();
  check_lane([&](Lane& lane) {
    for (const std::size_t size : {1, 15, 16, 17, 512, 1008, 1023, 1024}) {
      CAPTURE(size);
      const MgmStream stream{key, mgm_nonce, 1, test_bytes(size)};
      const Bytes sealed = mgm_seal(*cpu, stream, plain, 2);
      CHECK(difference(mgm_seal(lane, stream, plain, 2), sealed) == "");
      check_mgm_opens(lane, stream, sealed, plain);
    }
  });
}

TEST_CASE("a CUDA lane seals and opens many Kuznyechik segments in a job, two jobs at a time", "[gpu]") {
  constexpr std::size_t segments = 2000;  // more CUDA blocks than any current device runs at a time
  const std::size_t size = segments * segment_bytes - 5;
  const CipherKey key = make_key(test_bytes(32, 3), Cipher::kuznyechik);
  const MgmStream stream{key, mgm_nonce, 77};
  const Bytes plain = test_bytes(size);
  const Bytes sealed = mgm_seal(*make_cpu_lane(), stream, plain, segments);
  const auto check = [&](Lane& lane) {
    CHECK(difference(mgm_seal(lane, stream, plain, segments), sealed) == "");

    // Alternates good and bad jobs: each verdict must belong to the job that is finished.
    std::vector<Bytes> inputs(3, sealed), outputs(3, Bytes(size));
    inputs[1][600 * sealed_segment_bytes + 9] ^= std::byte{4};
    inputs[1][698 * sealed_segment_bytes] ^= std::byte{1};
    const auto start = [&](std::size_t i) {
      lane.start({.operation = Operation::open,
                  .key = &key,
                  .in = inputs[i],
                  .out = outputs[i],
                  .base_nonce = stream.base,
                  .first_segment = stream.first,
                  .aad = stream.aad});
    };
    start(0);
    start(1);
    CHECK_FALSE(lane.finish().has_value());
    start(2);
    CHECK(lane.finish() == std::optional<std::size_t>(600));
    CHECK_FALSE(lane.finish().has_value());
    CHECK(difference(outputs[0], plain) == "");
    CHECK(difference(outputs[2], plain) == "");
  };
  check_lane(check, segments * sealed_segment_bytes);
}

TEST_CASE("a Kuznyechik job without segments does nothing on a CUDA lane", "[gpu]") {
  const CipherKey key = make_key(test_bytes(32), Cipher::kuznyechik);
  check_lane([&](Lane& lane) {
    CHECK(mgm_seal(lane, {key}, {}, 0).empty());
    CHECK_FALSE(mgm_open(lane, {key}, {}).bad_segment.has_value());
  });
}

}  // namespace gpuaes
