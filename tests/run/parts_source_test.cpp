// Files made of parts, read from pipes and from files: what is released, and how damage is refused.
#include "format/parts/source.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "run/parts_rig.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
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

// A damaged file releases whole parts and segments of the test bytes, and never more than `most`.
void check_refuses(const Bytes& bytes, bool seekable, const std::string& error, std::size_t most) {
  CAPTURE(seekable, error);
  const PartsResult result = read_parts(bytes, reading(seekable));
  CHECK(contains(result.error, "auth: "));
  CHECK(contains(result.error, error));
  CHECK(result.out.size() <= most);
  CHECK(difference(result.out, test_bytes(result.out.size())) == "");
}

Bytes with_byte(Bytes bytes, std::size_t at) {
  bytes[at] ^= std::byte{1};
  return bytes;
}

Bytes with_number(Bytes bytes, std::size_t at, std::uint64_t number, std::size_t size = 8) {
  store_big_endian(number, std::span(bytes).subspan(at, size));
  return bytes;
}

std::string at_byte(std::size_t at) {
  return "at byte " + std::to_string(bytes_before_frames + at);
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

// Reading -----------------------------------------------------------------------------------------

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

TEST_CASE("every lane reads what the reference lane reads") {
  for (const Cipher cipher : {Cipher::aes_256, Cipher::kuznyechik}) {
    const PartsFile file = make_parts({segment + 5, 0, 3 * segment, 77}, 4, cipher);
    for (const bool seekable : {false, true})
      for (const auto make_lane : {make_cpu_lane, make_reference_lane})
        for (const std::size_t lanes : {1, 3}) {
          CAPTURE(seekable, lanes);
          PartsSetup setup = reading(seekable, cipher);
          setup.make_lane = make_lane;
          setup.lanes.assign(lanes, {});
          check_reads(file, setup);
        }
  }
}

TEST_CASE("a pipe that delivers byte by byte loses nothing") {
  const PartsFile file = make_parts({0, 300, segment + 1, 0});
  PartsSetup setup = reading(false);
  setup.read_size = 1;
  check_reads(file, setup);
  setup.seed = 1;
  check_reads(file, setup);
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

TEST_CASE("the smallest file is one empty part, its index and the number of parts") {
  const PartsFile file = make_parts({0});
  CHECK(file.bytes.size() == 73 + 16 + 73 + 40 + 16 + 8);
  for (const bool seekable : {false, true}) {
    check_reads(file, reading(seekable));
    for (std::size_t size = frame_header_bytes; size < file.bytes.size(); ++size) {
      const Bytes cut_off(file.bytes.begin(), file.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      check_refuses(cut_off, seekable, seekable ? "its index is missing or damaged" : "is truncated after",
                    0);
    }
  }
}

// Damage ------------------------------------------------------------------------------------------

TEST_CASE("a changed byte anywhere is detected, and only true plaintext is released") {
  const PartsFile file = make_parts({100, 0, 50});
  for (std::size_t at = 0; at < file.bytes.size(); ++at)
    for (const bool seekable : {false, true}) {
      CAPTURE(at, seekable);
      const PartsResult result = read_parts(with_byte(file.bytes, at), reading(seekable));
      CHECK(contains(result.error, "auth: "));
      CHECK(difference(result.out, test_bytes(result.out.size())) == "");
      const std::size_t good = at >= file.frames[1] ? 100 : 0;
      CHECK(result.out.size() <= (at >= file.index_at() ? 150 : good));
    }
}

TEST_CASE("errors name the offset and the part") {
  const PartsFile file = make_parts({segment + 100, 0, 2 * segment});
  const std::size_t in_part_2 = file.frames[2] + frame_header_bytes + sealed_segment_bytes;
  for (const bool seekable : {false, true}) {
    check_refuses(with_byte(file.bytes, in_part_2 + 5), seekable,
                  "is corrupt " + at_byte(in_part_2) + ", in part 2; 32868 bytes of plaintext before that",
                  2 * segment + 100);
    check_refuses(with_byte(file.bytes, file.frames[1] + 30), seekable,
                  "is corrupt " + at_byte(file.frames[1]) + ", in the header of part 1; 16484 bytes",
                  segment + 100);
  }
}

TEST_CASE("errors name the header of the index, its number of parts and its salt") {
  const PartsFile file = make_parts({100, 50});
  const std::string error = "is corrupt " + at_byte(file.index_at()) + ", in the header of the index";
  for (const std::size_t field : {4, 8, 16}) {
    check_refuses(with_byte(file.bytes, file.index_at() + field), false, error, 150);
    check_refuses(with_byte(file.bytes, file.index_at() + field), true, "its index is missing or damaged", 0);
  }
  for (const bool seekable : {false, true})
    check_refuses(with_byte(file.bytes, file.index_at() + 20), seekable, error, seekable ? 0 : 150);
}

TEST_CASE("length fields that are wrong or overflow are refused, and nothing is read beyond the input") {
  const PartsFile file = make_parts({100, 50, 70});
  for (const std::size_t frame : file.frames)
    for (const std::uint64_t length :
         {std::uint64_t{0}, std::uint64_t{49}, std::uint64_t{16384}, (std::uint64_t{1} << 52) - 1,
          std::uint64_t{1} << 52, ~std::uint64_t{0} - 15, ~std::uint64_t{0}})
      for (const bool seekable : {false, true}) {
        CAPTURE(frame, length, seekable);
        const Bytes bytes = with_number(file.bytes, frame + 9, length);
        if (frame == 0 && length >= std::uint64_t{1} << 52) continue;  // refused with the header
        check_refuses(bytes, seekable, "", frame == file.index_at() ? 220 : 170);
      }
}

TEST_CASE("numbers of parts that are wrong or overflow are refused") {
  const PartsFile file = make_parts({100, 50});
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{max_parts},
        std::uint64_t{max_parts} + 1, ~std::uint64_t{0}, ~std::uint64_t{0} / 40 + 3})
    for (const bool seekable : {false, true}) {
      CAPTURE(count);
      const Bytes bytes = with_number(file.bytes, file.bytes.size() - 8, count);
      check_refuses(bytes, seekable, seekable ? "its index is missing or damaged" : "in the number of parts",
                    seekable ? 0 : 150);
    }
}

TEST_CASE("an authentic index that lists other parts or lengths is refused") {
  const PartsFile good = make_parts({100, 50});
  const auto with_entries = [&](const std::function<void(std::vector<IndexEntry>&)>& change) {
    PartsFile file{
        .bytes = {good.bytes.begin(), good.bytes.begin() + static_cast<std::ptrdiff_t>(good.index_at())}};
    file.entries = good.entries;
    change(file.entries);
    file.finish();
    return file.bytes;
  };
  using Entries = std::vector<IndexEntry>;
  const std::vector<std::function<void(Entries&)>> changes{
      [](Entries& entries) { entries[1].length = 51; },
      [](Entries& entries) { entries[1].length = (std::uint64_t{1} << 52) - 1; },
      [](Entries& entries) { entries[1].length = std::uint64_t{1} << 52; },
      [](Entries& entries) { entries[0].length = ~std::uint64_t{0} - 15; },
      [](Entries& entries) { entries[1].commitment[0] ^= std::byte{1}; },
      [](Entries& entries) { entries[0].commitment[31] ^= std::byte{1}; },
      [](Entries& entries) { std::swap(entries[0], entries[1]); },
      [](Entries& entries) { entries.pop_back(); },
      [](Entries& entries) { entries.push_back(entries[1]); },
      [](Entries& entries) { std::swap(entries[0].length, entries[1].length); },
  };
  for (const auto& change : changes)
    for (const bool seekable : {false, true})
      check_refuses(with_entries(change), seekable, "", seekable ? 100 : 150);
  CHECK(read_parts(with_entries([](Entries&) {}), reading(true)).error == "");
}

TEST_CASE("parts that were cut differently or reordered are refused") {
  const auto sealed = [](std::vector<std::pair<std::uint32_t, std::uint32_t>> parts) {
    PartsFile file{.bytes = {}};
    std::size_t at = 0;
    for (const auto& [number, of] : parts) {
      file.add_part(number, of, test_bytes(10, at));
      at += 10;
    }
    file.finish();
    return file.bytes;
  };
  for (const bool seekable : {false, true}) {
    CHECK(read_parts(sealed({{0, 2}, {1, 2}}), reading(seekable)).error == "");
    check_refuses(sealed({{0, 2}, {1, 0}}), seekable, "", 10);
    check_refuses(sealed({{0, 0}, {1, 2}}), seekable, "", 10);
    check_refuses(sealed({{0, 3}, {1, 3}}), seekable, "", 20);
    check_refuses(sealed({{0, 1}, {1, 2}}), seekable, "", 10);
    check_refuses(sealed({{0, 0}, {0, 0}}), seekable, "", 10);
    check_refuses(sealed({{0, 0}, {2, 0}}), seekable, "", 10);
  }
}

TEST_CASE(
    "one attempt in place of another is found before it is released from a file, and at the index of a "
    "pipe") {
  const PartsFile good = make_parts({100, 50, 70});
  PartsFile other{.bytes = {}};
  other.add_part(1, 0, test_bytes(50, 100));
  Bytes mixed = good.bytes;
  std::ranges::copy(other.bytes, mixed.begin() + static_cast<std::ptrdiff_t>(good.frames[1]));
  check_refuses(mixed, true, "in the header of part 1", 100);
  check_refuses(mixed, false, "in the index, which lists other parts", 220);
}

TEST_CASE("bytes after the number of parts, or between the parts and the index, are refused") {
  const PartsFile file = make_parts({100, 50});
  for (const std::size_t more : {1, 8, 89, 500})
    for (const bool seekable : {false, true}) {
      Bytes appended = file.bytes;
      appended.resize(appended.size() + more);
      check_refuses(appended, seekable, seekable ? "its index is missing or damaged" : "trailing bytes", 150);
      Bytes between = file.bytes;
      between.insert(between.begin() + static_cast<std::ptrdiff_t>(file.index_at()), more, std::byte{1});
      check_refuses(between, seekable,
                    seekable ? "its index is missing or damaged" : "in the header of part 2", 150);
    }
}

}  // namespace gpuaes
