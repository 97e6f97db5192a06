// Tests sealing and opening on CUDA lanes against published vectors, the reference and libcrypto. Needs a
// GPU.
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "cipher/modes/segments.hpp"
#include "lane/backends.hpp"
#include "lane/gcm_checks.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/gcm_vectors.hpp"
#include "support/keys.hpp"

namespace gpuaes {
namespace {

template <class Check>
void check_lane(Check check, std::size_t max_bytes = max_checked_bytes) {
  const LaneSpec spec{Backend::cuda, 0u, 1u};
  check(*open_lanes({&spec, 1}, {.memory = {}, .max_in = max_bytes, .max_out = max_bytes}).at(0));
}

}  // namespace

TEST_CASE("a CUDA lane reproduces NIST's AES-GCM vectors", "[gpu][optional]") {
  if (!have_nist_vectors()) return;
  check_lane(check_cavp);
}

TEST_CASE("a CUDA lane reproduces Wycheproof's AES-GCM vectors", "[gpu]") {
  check_lane(check_wycheproof);
}

TEST_CASE("a CUDA lane seals and opens like the reference for every length of the last segment", "[gpu]") {
  check_lane([](Lane& lane) { check_gcm_lengths(lane, *make_reference_lane()); });
}

TEST_CASE("a CUDA lane derives nonces from segment numbers", "[gpu]") {
  check_lane([](Lane& lane) { check_gcm_numbering(lane); });
}

TEST_CASE("a CUDA lane reports the first bad segment", "[gpu]") {
  check_lane([](Lane& lane) { check_gcm_bad_segments(lane); });
}

TEST_CASE("a CUDA lane authenticates associated data of every length", "[gpu]") {
  check_lane([](Lane& lane) { check_gcm_aad(lane, *make_cpu_lane()); });
}

TEST_CASE("a CUDA lane runs jobs of all operations in any order, with alternating keys", "[gpu]") {
  check_lane([](Lane& lane) { check_gcm_turns(lane, *make_cpu_lane()); });
}

TEST_CASE("a CUDA lane seals and opens many segments in a job, two jobs at a time", "[gpu]") {
  constexpr std::size_t segments = 4000;  // more CUDA blocks than any current device runs at a time
  const std::size_t size = segments * segment_bytes - 5;
  const CipherKey key = make_key(test_bytes(32));
  const GcmStream stream{key, a_nonce, 77};
  const Bytes plain = test_bytes(size);
  const auto cpu = make_cpu_lane();
  const Bytes sealed = seal(*cpu, stream, plain, segments);
  const auto check = [&](Lane& lane) {
    CHECK(difference(seal(lane, stream, plain, segments), sealed) == "");

    // Alternates good and bad jobs: each verdict must belong to the job that is finished.
    std::vector<Bytes> inputs(4, sealed), outputs(4, Bytes(size));
    inputs[1][600 * sealed_segment_bytes + 9] ^= std::byte{4};
    inputs[1][698 * sealed_segment_bytes] ^= std::byte{1};
    inputs[2].back() ^= std::byte{1};
    const auto start = [&](std::size_t i) {
      lane.start({.operation = Operation::open,
                  .key = &key,
                  .in = inputs[i],
                  .out = outputs[i],
                  .base_nonce = a_nonce,
                  .first_segment = 77});
    };
    start(0);
    start(1);
    CHECK_FALSE(lane.finish().has_value());
    start(2);
    CHECK(lane.finish() == std::optional<std::size_t>(600));
    start(3);
    CHECK(lane.finish() == std::optional<std::size_t>(segments - 1));
    CHECK_FALSE(lane.finish().has_value());
    CHECK(difference(outputs[0], plain) == "");
    CHECK(difference(outputs[3], plain) == "");
  };
  check_lane(check, segments * sealed_segment_bytes);
}

TEST_CASE("a job without segments does nothing on a CUDA lane", "[gpu]") {
  const CipherKey key = make_key(test_bytes(16));
  check_lane([&](Lane& lane) {
    CHECK(seal(lane, {key}, {}, 0).empty());
    CHECK_FALSE(open(lane, {key}, {}, 0).bad_segment.has_value());
  });
}

}  // namespace gpuaes
