// The pipeline with sealed segments. tests/cli/sealed/ checks that it outputs exactly what has been verified.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "format/sessions.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/rig.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/keys.hpp"
#include "support/scripted_lane.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t plain = segment_bytes, sealed = sealed_segment_bytes;
constexpr Nonce base_nonce{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0xfe}, 12};

std::unique_ptr<Session> session(bool decrypt) {
  return make_segment_session(
      {.decrypt = decrypt, .key = make_key(cipher_key()), .base_nonce = base_nonce, .header = {}});
}
std::unique_ptr<Session> seal_session() {
  return session(false);
}
std::unique_ptr<Session> open_session() {
  return session(true);
}

Bytes sealed_bytes(std::size_t size) {
  return sealed_bytes(size, base_nonce);
}

const std::array sizes{std::size_t{0}, std::size_t{1}, plain - 1, plain,         plain + 1, 2 * plain,
                       2 * plain + 17, 3 * plain - 1,  4 * plain, 4 * plain + 1, 8 * plain, 11 * plain + 333};

Setup opening(Bytes input, std::size_t segments_a_chunk = 2) {
  return {.input = std::move(input), .session = open_session, .chunk_bytes = segments_a_chunk * sealed};
}

}  // namespace

TEST_CASE("output is where in a page the sink wants it, unless it overwrites its input in memory") {
  for (const std::size_t place : {0, 191, 4095})
    for (const std::size_t parallel : {std::size_t{0}, 5 * plain, 11 * plain})
      for (const bool copies : {false, true}) {
        CAPTURE(place, parallel, copies);
        const std::size_t size = 11 * plain + 333;
        const auto check = [&](Setup setup, std::span<const std::byte> expected) {
          setup.source.parallel = parallel;
          setup.sink_place = place;
          Rig rig(std::move(setup));
          rig.add_lanes(2, {.copies = copies});
          CHECK(rig.run() == "");
          CHECK(difference(rig.sink.bytes(), expected) == "");
          if (!copies || parallel == 0) CHECK(rig.sink.misplaced() == 0);
        };
        check({.size = size, .session = seal_session, .chunk_bytes = 2 * plain}, sealed_bytes(size));
        check(opening(sealed_bytes(size)), test_bytes(size));
      }
}

TEST_CASE("sealing matches libcrypto for sizes around every boundary and chunks of any size") {
  for (const std::size_t size : sizes)
    for (const std::size_t segments : {1, 2, 3})
      for (const std::size_t ring_chunks : {1, 4})
        for (const std::size_t parallel : {std::size_t{0}, size / 2, size}) {
          CAPTURE(size, segments, ring_chunks, parallel);
          Rig rig({.size = size,
                   .session = seal_session,
                   .chunk_bytes = segments * plain,
                   .ring_chunks = ring_chunks,
                   .source = {.parallel = parallel}});
          rig.add_lanes(1);
          rig.add_lanes(1, {.copies = true});
          CHECK(rig.run() == "");
          CHECK(difference(rig.sink.bytes(), sealed_bytes(size)) == "");
        }
}

TEST_CASE("opening restores what was sealed, with reads of any size") {
  for (const std::size_t size : sizes)
    for (const std::size_t segments : {1, 3})
      for (const std::size_t read_size : {std::size_t{1000}, sealed, 5 * sealed})
        for (const bool parallel : {false, true}) {
          CAPTURE(size, segments, read_size, parallel);
          Bytes input = sealed_bytes(size);
          const std::size_t input_size = input.size();
          Setup with = opening(std::move(input), segments);
          with.source = {
              .read_size = read_size, .parallel = parallel ? input_size : 0, .sometimes_late = true};
          Rig rig(std::move(with));
          rig.add_lanes(1);
          rig.add_lanes(1, {.copies = true});
          CHECK(rig.run() == "");
          CHECK(difference(rig.sink.bytes(), test_bytes(size)) == "");
          CHECK(rig.pipeline.bytes_in() == input_size);
          CHECK(rig.pipeline.bytes_out() == size);
        }
}

TEST_CASE("an input with a read error is never sealed with a last segment") {
  for (const std::size_t fail_at : {std::size_t{0}, std::size_t{5}, plain, 2 * plain, 3 * plain + 5})
    for (const std::size_t segments : {1, 2})
      for (const bool parallel : {false, true}) {
        CAPTURE(fail_at, segments, parallel);
        const std::size_t size = 4 * plain;
        Rig rig({.size = size,
                 .session = seal_session,
                 .chunk_bytes = segments * plain,
                 .source = {.parallel = parallel ? size : 0, .fail_at = fail_at}});
        rig.add_lanes(2);
        CHECK(contains(rig.run(), "io: the source fails"));
        const Bytes whole = sealed_bytes(size);
        CHECK(rig.sink.bytes().size() % sealed == 0);
        CHECK(rig.sink.bytes().size() <= fail_at / plain * sealed);
        CHECK(std::ranges::equal(rig.sink.bytes(), std::span(whole).first(rig.sink.bytes().size())));
      }
}

TEST_CASE("a chunk has the requested size, rounded up to whole segments") {
  const auto seal = seal_session(), open = open_session(), raw = raw_session();
  for (const std::size_t segments : {1, 2, 5})
    for (const std::size_t missing : {std::size_t{0}, std::size_t{1}, plain - 1}) {
      CAPTURE(segments, missing);
      const LanePlan plan{.chunk_bytes = segments * plain - missing, .chunks = 2};
      const Ring sealing = make_ring(plan, *seal), opening_ring = make_ring(plan, *open);
      CHECK(sealing.in_bytes() == segments * plain);
      CHECK(sealing.out_bytes() == segments * sealed);
      CHECK(opening_ring.in_bytes() == segments * sealed);
      CHECK(opening_ring.out_bytes() == segments * plain);
    }
  CHECK(make_ring({.chunk_bytes = 17, .chunks = 1}, *raw).in_bytes() == 32);
}

TEST_CASE("unverified plaintext is wiped from the ring") {
  Bytes input = sealed_bytes(3 * plain);
  input[sealed + 5] ^= std::byte{1};
  Setup with = opening(input, 4);
  with.ring_chunks = 1;
  Rig rig(std::move(with));
  rig.add_lanes(1);
  const std::span<std::byte> outputs = rig.ring.memory().subspan(rig.ring.in_memory().size());
  CHECK(rig.run() != "");
  CHECK(difference(outputs.first(plain), test_bytes(plain)) == "");
  CHECK(std::ranges::all_of(outputs.subspan(plain), [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST_CASE("a lane that fails while opening loses no data and releases none that is wrong") {
  for (const bool damaged : {false, true}) {
    Bytes input = sealed_bytes(9 * plain + 5);
    if (damaged) input[7 * sealed] ^= std::byte{1};
    Rig rig(opening(std::move(input)));
    rig.pipeline.add_lane(rig.lane({.depth = 2, .on_finish = fail_at_job(1)}));
    rig.add_lanes(1);
    const std::string failure = rig.run();
    CHECK(failure.substr(0, 5) == (damaged ? "auth:" : ""));
    CHECK(difference(rig.sink.bytes(), test_bytes(damaged ? 7 * plain : 9 * plain + 5)) == "");
    CHECK(rig.warnings() == 1);
  }
}

}  // namespace gpuaes
