// Streams whose last segment may be full and is marked in its nonce, as age has them, with tiny segments.
// tests/cli/age/ has segments that are cut, moved or changed.
#include <memory>
#include <vector>

#include "cli/option_values.hpp"
#include "format/sessions.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/rig.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/keys.hpp"
#include "support/reference_lane.hpp"
#include "support/threads.hpp"

namespace gpuaes::full_last_segment {
namespace {

constexpr SegmentRules rules{.plain_bytes = 48, .last_flag = 11};
constexpr std::size_t plain = rules.plain_bytes, sealed = rules.sealed_bytes();
constexpr Nonce base_nonce{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0}, 12};

std::unique_ptr<Session> session(bool decrypt) {
  return make_segment_session({.decrypt = decrypt,
                               .key = make_key(cipher_key()),
                               .rules = rules,
                               .base_nonce = base_nonce,
                               .header = {}});
}
std::unique_ptr<Session> seal_session() {
  return session(false);
}
std::unique_ptr<Session> open_session() {
  return session(true);
}

Bytes sealed_bytes(std::size_t size) {
  return sealed_bytes(size, base_nonce, rules);
}

const std::vector<std::size_t> sizes{
    0,         1,         plain - 1,    plain, plain + 1, 2 * plain - 1, 2 * plain, 2 * plain + 1,
    3 * plain, 6 * plain, 7 * plain + 5};

// Runs on CPU and reference lanes, from pipes and files, with rings and chunks of any size.
void check_run(const Bytes& input, SessionFactory factory, const Bytes& output) {
  const std::size_t unit = factory()->unit_in();
  for (const std::size_t segments : {1, 2, 3})
    for (const std::size_t ring_chunks : {1, 3})
      for (const bool parallel : {false, true})
        for (const std::size_t read_size : {std::size_t{1}, plain, 5 * sealed}) {
          CAPTURE(input.size(), segments, ring_chunks, parallel, read_size);
          Rig rig(
              {.input = input,
               .session = factory,
               .chunk_bytes = segments * unit,
               .ring_chunks = ring_chunks,
               .source = {
                   .read_size = read_size, .parallel = parallel ? input.size() : 0, .sometimes_late = true}});
          rig.pipeline.add_lane(make_cpu_lane());
          rig.pipeline.add_lane(make_reference_lane());
          rig.add_lanes(1, {.copies = true});
          CHECK(rig.run() == "");
          CHECK(difference(rig.sink.bytes(), output) == "");
        }
}

}  // namespace

TEST_CASE("the last segment is marked, and full if the input is a multiple of segments") {
  for (const std::size_t size : sizes) check_run(test_bytes(size), seal_session, sealed_bytes(size));
}

TEST_CASE("a full last segment is opened") {
  for (const std::size_t size : sizes) check_run(sealed_bytes(size), open_session, test_bytes(size));
}

TEST_CASE("a stream with a full last segment ends there") {
  for (const Bytes& more : {Bytes(5), sealed_bytes(2 * plain)}) {
    Bytes input = sealed_bytes(3 * plain);
    append(input, more);
    Rig rig({.input = input, .session = open_session, .chunk_bytes = 2 * sealed});
    rig.add_lanes(2);
    CHECK(rig.run() ==
          "auth: the stream ends at byte 192, but the input has trailing bytes; 144 bytes of plaintext were "
          "verified");
    CHECK(difference(rig.sink.bytes(), test_bytes(3 * plain)) == "");
  }
}

TEST_CASE("a full segment is processed only after a byte or the end follows it") {
  Rig rig({.session = seal_session, .chunk_bytes = 4 * plain, .ring_chunks = 2});
  PipeFed fed(rig);
  fed.pipeline.add_lane(make_cpu_lane());
  auto done = fed.start();
  const Bytes text = test_bytes(2 * plain);
  put(fed.pipe.writer, text);
  CHECK(eventually([&] { return fed.pipeline.bytes_in() == plain; }));  // flushed without the second one
  fed.pipe.writer.close();
  CHECK(done.get() == "");
  CHECK(difference(rig.sink.bytes(), sealed_bytes(2 * plain)) == "");
}

TEST_CASE("lanes of GPUs refuse other segments than those of the sealed format") {
  Bytes memory(1000);
  const LaneSetup setup{.memory = memory, .max_in = 100, .max_out = 100, .rules = rules};
  CHECK(failure_of([&] { open_lanes(parse_lanes("cuda:0").named, setup); }) ==
        "lane: cuda workers do not support aes-256 with segments of 48 bytes");
}

}  // namespace gpuaes::full_last_segment
