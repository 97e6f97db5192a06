// Lanes with AES-GCM, compared with published vectors and with each other.
#include <array>
#include <memory>
#include <span>
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

constexpr std::array make_lanes{make_reference_lane, make_cpu_lane};

}  // namespace

TEST_CASE("every lane passes NIST's vectors for AES-GCM", "[optional]") {
  if (!have_nist_vectors()) return;
  for (const auto make_lane : make_lanes) check_cavp(*make_lane());
}

TEST_CASE("every lane passes Wycheproof's vectors for AES-GCM") {
  for (const auto make_lane : make_lanes) check_wycheproof(*make_lane());
}

TEST_CASE("the CPU lane seals and opens like the reference, whatever the length of the last segment") {
  check_gcm_lengths(*make_cpu_lane(), *make_reference_lane());
}

TEST_CASE("every lane derives nonces from the numbers of segments") {
  for (const auto make_lane : make_lanes) check_gcm_numbering(*make_lane());
}

TEST_CASE("every lane finds the first bad segment") {
  for (const auto make_lane : make_lanes) check_gcm_bad_segments(*make_lane());
}

TEST_CASE("every lane authenticates associated data of any length") {
  for (const auto make_lane : make_lanes) check_gcm_aad(*make_lane(), *make_reference_lane());
  check_gcm_aad(*make_reference_lane(), *make_cpu_lane());
}

TEST_CASE("jobs of all operations may run in any order, with several keys") {
  check_gcm_turns(*make_cpu_lane(), *make_reference_lane());
  check_gcm_turns(*make_reference_lane(), *make_cpu_lane());
}

TEST_CASE("a job without segments does nothing") {
  const CipherKey key = make_key(test_bytes(16));
  for (const auto make_lane : make_lanes) {
    const auto lane = make_lane();
    CHECK(seal(*lane, {key}, {}, 0).empty());
    CHECK_FALSE(open(*lane, {key}, {}, 0).bad_segment.has_value());
  }
}

TEST_CASE("a lane seals and opens at any address, and writes only its output") {
  const CipherKey key = make_key(test_bytes(32));
  const GcmStream stream{key, a_nonce};
  const Bytes plain = test_bytes(segment_bytes + 100);
  const Bytes sealed = seal(*make_cpu_lane(), stream, plain, 2);
  for (const auto make_lane : make_lanes)
    for (const Operation operation : {Operation::seal, Operation::open})
      for (const std::size_t shift : {1, 3, 8, 15}) {
        const auto lane = make_lane();
        CAPTURE(lane->name(), operation, shift);
        const Bytes in = joined(Bytes(shift), operation == Operation::seal ? plain : sealed);
        const Bytes& result = operation == Operation::seal ? sealed : plain;
        Bytes out(result.size() + 128, std::byte{0xa5});
        lane->start({.operation = operation,
                     .key = &key,
                     .in = std::span(in).subspan(shift),
                     .out = std::span(out).subspan(64 - shift, result.size()),
                     .base_nonce = a_nonce});
        CHECK_FALSE(lane->finish().has_value());
        const Bytes before(64 - shift, std::byte{0xa5}), after(64 + shift, std::byte{0xa5});
        CHECK(difference(out, joined(joined(before, result), after)) == "");
      }
}

}  // namespace gpuaes
