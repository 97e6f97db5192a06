// Files made of parts, read from pipes and from files. tests/cli/parts covers damaged files.
#include "format/parts/session.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "run/parts_rig.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/parts_file.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t segment = segment_bytes;

PartsSetup reading(bool seekable, Cipher cipher = Cipher::aes_256) {
  PartsSetup setup;
  setup.cipher = cipher;
  setup.seekable = seekable;
  return setup;
}

void check_reads(const PartsFile& file, const PartsSetup& setup) {
  const PartsResult result = read_parts(file.bytes, setup);
  CHECK(result.error == "");
  CHECK(difference(result.out, test_bytes(file.size())) == "");
}

const std::vector<std::vector<std::size_t>> shapes{
    {0},
    {1},
    {segment},
    {0, 0, 0},
    {segment - 1, 1, segment, segment + 1},
    {5 * segment + 7, 0, 3 * segment, 0, 1},
    {0, 2 * segment, 0},
    std::vector<std::size_t>(20, 1000),
};

}  // namespace

TEST_CASE("parts of any length are read with rings, chunks and reads of any size") {
  for (const auto& lengths : shapes) {
    const PartsFile file = make_parts(lengths);
    for (const bool seekable : {false, true})
      for (const std::size_t segments : {1, 2, 50})
        for (const std::size_t ring_chunks : {1, 2, 5})
          for (const std::size_t read_size : {std::size_t{997}, std::size_t{1} << 20}) {
            CAPTURE(lengths.size(), seekable, segments, ring_chunks, read_size);
            PartsSetup setup = reading(seekable);
            setup.segments_a_chunk = segments;
            setup.ring_chunks = ring_chunks;
            setup.read_size = read_size;
            setup.seed = segments + ring_chunks;
            check_reads(file, setup);
          }
  }
}

TEST_CASE("a thousand tiny and empty parts are read, whichever lanes take them") {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < 1000; ++i) lengths.push_back(i % 3 * 10);
  const PartsFile file = make_parts(lengths, 0);
  for (const bool seekable : {false, true})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      CAPTURE(seekable, seed);
      PartsSetup setup = reading(seekable);
      setup.lanes.assign(seed + 1, {.depth = 1 + seed % 3, .copies = seed % 2 == 1});
      setup.ring_chunks = 1 + seed * 3;
      setup.seed = seed;
      setup.max_delay = std::chrono::microseconds(seed * 5);
      check_reads(file, setup);
    }
}

TEST_CASE("a lane that fails within parts gives its chunks back, and nothing is lost") {
  const PartsFile file = make_parts({3 * segment, 5, 0, 2 * segment + 9, 100, 100, 7 * segment});
  for (const bool seekable : {false, true})
    for (std::uint64_t job = 0; job < 6; ++job)
      for (const bool finishing : {false, true}) {
        CAPTURE(seekable, job, finishing);
        PartsSetup setup = reading(seekable);
        LaneScript failing{.depth = 2, .copies = true};
        (finishing ? failing.on_finish : failing.on_start) = fail_at_job(job);
        setup.lanes = {failing, failing};
        setup.segments_a_chunk = 1;
        setup.seed = job;
        setup.max_delay = std::chrono::microseconds(20);
        check_reads(file, setup);
      }
}

TEST_CASE("a lane knows by the part's number that a key is new, even at an earlier key's address") {
  // With one chunk at a time, each part is closed before the next one is opened.
  const PartsFile file = make_parts(std::vector<std::size_t>(64, 500));
  for (const bool seekable : {false, true}) {
    PartsSetup setup = reading(seekable);
    setup.ring_chunks = 1;
    setup.lanes.assign(1, {});
    check_reads(file, setup);
  }
}

TEST_CASE("parts of inputs that were cut in different ways are refused, even if the index lists them") {
  for (const auto& [first_of, second_of] : {std::pair{2u, 0u}, {0u, 2u}}) {
    CAPTURE(first_of, second_of);
    PartsFile file;
    file.add_part(0, first_of, test_bytes(100));
    file.add_part(1, second_of, test_bytes(50, 100));
    file.finish();
    const std::size_t at = bytes_before_frames + file.frames[1];
    for (const bool seekable : {false, true})
      CHECK(read_parts(file.bytes, reading(seekable)).error ==
            "auth: the input is corrupt at byte " + std::to_string(at) +
                ", in the header of part 1; 100 bytes of plaintext before that were verified");
  }
}

}  // namespace gpuaes
