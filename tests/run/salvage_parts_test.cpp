// Salvage of files made of parts: what is recovered, from pipes and from files, and what is reported as lost.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "run/parts_rig.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/parts_file.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t segment = segment_bytes, sealed_segment = sealed_segment_bytes;

using Ranges = std::vector<std::pair<std::size_t, std::size_t>>;  // begin and end

PartsResult salvage(const Bytes& bytes, bool seekable, std::uint64_t seed = 0) {
  PartsSetup setup;
  setup.seekable = seekable;
  setup.salvage = true;
  setup.seed = seed;
  setup.segments_a_chunk = 1 + seed % 3;
  setup.lanes = {{.copies = true, .on_finish = fail_at_job(3)}, {}, {}};
  return read_parts(bytes, setup);
}

// The first `size` test bytes, with zeros in these ranges.
Bytes with_zeros(std::size_t size, const Ranges& lost) {
  Bytes plain = test_bytes(size);
  for (const auto& [begin, end] : lost)
    std::fill(plain.begin() + static_cast<std::ptrdiff_t>(begin),
              plain.begin() + static_cast<std::ptrdiff_t>(end), std::byte{0});
  return plain;
}

Bytes with_byte(Bytes bytes, std::size_t at) {
  bytes[at] ^= std::byte{1};
  return bytes;
}

Bytes cut_off(const Bytes& bytes, std::size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

std::string warning(std::size_t at, std::size_t begin, std::size_t end) {
  return "the input is corrupt at byte " + std::to_string(bytes_before_frames + at) + "; plaintext range " +
         std::to_string(begin) + ":" + std::to_string(end - begin) + " is lost";
}

// Offsets in a frame header.
constexpr std::size_t number_field = 4, length_field = 16, salt_field = 17, commitment_field = 41;

const std::vector<std::size_t> lengths{segment + 100, 0, 3 * segment, 50};
constexpr std::size_t total = 4 * segment + 150;

}  // namespace

TEST_CASE("nothing is lost from an undamaged file made of parts") {
  const PartsFile file = make_parts(lengths, 4);
  for (const bool seekable : {false, true})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const PartsResult result = salvage(file.bytes, seekable, seed);
      CHECK(result.error == "");
      CHECK(result.warnings.empty());
      CHECK(difference(result.out, test_bytes(total)) == "");
    }
}

TEST_CASE("lost segments of parts are reported with their offsets in the whole input and plaintext") {
  const PartsFile file = make_parts(lengths);
  const std::size_t part_0 = file.frames[0] + 73, part_2 = file.frames[2] + 73, part_3 = file.frames[3] + 73;
  Bytes bytes = with_byte(file.bytes, part_0 + 5);
  bytes = with_byte(with_byte(bytes, part_2 + sealed_segment), part_2 + 2 * sealed_segment + 16399);
  bytes = with_byte(bytes, part_3);
  const Ranges lost{{0, segment}, {2 * segment + 100, 4 * segment + 100}, {total - 50, total}};
  for (const bool seekable : {false, true})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      CAPTURE(seekable, seed);
      const PartsResult result = salvage(bytes, seekable, seed);
      CHECK(difference(result.out, with_zeros(total, lost)) == "");
      // The last segment of part 2, which is empty, is good, but the ranges before and after it touch.
      CHECK(result.warnings ==
            std::vector<std::string>{warning(part_0, 0, segment),
                                     warning(part_2 + sealed_segment, 2 * segment + 100, total)});
      CHECK(result.error == "auth: the input is corrupt; 49202 bytes of plaintext in 2 ranges are lost");
    }
}

TEST_CASE("a part whose header is damaged is lost as a whole, and the next parts are recovered") {
  const PartsFile file = make_parts(lengths);
  for (std::uint32_t part = 0; part < lengths.size(); ++part) {
    const std::size_t at = file.frames[part];
    const std::size_t begin = part == 0 ? 0 : part == 3 ? total - 50 : segment + 100;
    for (std::size_t i = 0; i < frame_header_bytes; i += 3) {
      CAPTURE(part, i);
      const PartsResult result = salvage(with_byte(file.bytes, at + i), true, i);
      CHECK(difference(result.out, with_zeros(total, {{begin, begin + lengths[part]}})) == "");
      CHECK(result.warnings == std::vector<std::string>{warning(at, begin, begin + lengths[part])});
      CHECK(contains(result.error, "auth: the input is corrupt; "));
    }
  }
}

TEST_CASE("a whole attempt that the index does not list is lost") {
  const PartsFile file = make_parts(lengths);
  PartsFile other{.bytes = {}};
  other.add_part(2, 0, test_bytes(3 * segment, segment + 100));
  Bytes bytes = file.bytes;
  std::ranges::copy(other.bytes, bytes.begin() + static_cast<std::ptrdiff_t>(file.frames[2]));
  PartsResult result = salvage(bytes, true);
  CHECK(difference(result.out, with_zeros(total, {{segment + 100, total - 50}})) == "");
  CHECK(result.warnings == std::vector<std::string>{warning(file.frames[2], segment + 100, total - 50)});
  CHECK(result.error == "auth: the input is corrupt; 49152 bytes of plaintext in 1 range are lost");

  result = salvage(bytes, false);  // the pipe shows it too late
  CHECK(contains(result.error, ", in the index, which lists other parts; 65686 bytes of plaintext"));
}

TEST_CASE("from a pipe, a part with a wrong salt or commitment is lost, and the next parts are recovered") {
  const PartsFile file = make_parts(lengths);
  for (const std::size_t field : {salt_field, commitment_field}) {
    CAPTURE(field);
    const PartsResult result = salvage(with_byte(file.bytes, file.frames[2] + field), false);
    CHECK(difference(result.out, with_zeros(total, {{segment + 100, total - 50}})) == "");
    CHECK(result.warnings == std::vector<std::string>{warning(file.frames[2], segment + 100, total - 50)});
    if (field == salt_field)
      CHECK(result.error == "auth: the input is corrupt; 49152 bytes of plaintext in 1 range are lost");
    else
      CHECK(contains(result.error,
                     ", in the index, which lists other parts; 65686 bytes of plaintext before that were "
                     "verified, except for 49152 bytes of plaintext in 1 range"));
  }
}

TEST_CASE("from a pipe, salvage ends at the first frame that cannot be followed") {
  const PartsFile file = make_parts(lengths);
  PartsResult result = salvage(with_byte(file.bytes, file.frames[2] + number_field), false);
  CHECK(difference(result.out, test_bytes(segment + 100)) == "");
  CHECK(result.error ==
        "auth: the input is corrupt at byte " + std::to_string(bytes_before_frames + file.frames[2]) +
            ", in the header of part 2; 16484 bytes of plaintext before that were verified; nothing "
            "after that was recovered");

  // With a wrong length, the next frame header is not where it should be.
  result = salvage(with_byte(file.bytes, file.frames[0] + length_field), false);
  CHECK(difference(result.out, with_zeros(segment + 101, {{segment, segment + 101}})) == "");
  CHECK(contains(result.error,
                 ", in the header of part 1; 16485 bytes of plaintext before that were verified, "
                 "except for 101 bytes of plaintext in 1 range"));
  Bytes longest = file.bytes;
  store_big_endian((std::uint64_t{1} << 52) - 1, std::span(longest).subspan(file.frames[3] + 9, 8));
  result = salvage(longest, false);
  CHECK(difference(result.out, test_bytes(total - 50)) == "");
  CHECK(contains(result.error, "the input is truncated after byte "));
}

TEST_CASE("part 0 proves the label and must be good without an index") {
  const PartsFile file = make_parts(lengths);
  for (const std::size_t at : {std::size_t{0}, number_field, salt_field, commitment_field}) {
    const PartsResult result = salvage(with_byte(file.bytes, at), false);
    CHECK(contains(result.error, "in its header, or was sealed with a different label; nothing was written"));
    CHECK(result.out.empty());
  }
}

TEST_CASE("a file with a damaged index or number of parts is read like a pipe") {
  const PartsFile file = make_parts(lengths);
  for (std::size_t at = file.index_at(); at < file.bytes.size(); at += 5) {
    CAPTURE(at);
    Bytes bytes = with_byte(file.bytes, at);
    bytes = with_byte(bytes, file.frames[2] + frame_header_bytes);
    const PartsResult result = salvage(bytes, true);
    CHECK(difference(result.out, with_zeros(total, {{segment + 100, 2 * segment + 100}})) == "");
    CHECK(result.warnings.size() == 1);
    CHECK(contains(result.error,
                   "; 65686 bytes of plaintext before that were verified, except for 16384 "
                   "bytes of plaintext in 1 range"));
  }
}

TEST_CASE("the whole segments of a truncated file are recovered") {
  const PartsFile file = make_parts(lengths);
  const std::size_t part_2 = file.frames[2] + frame_header_bytes;
  for (const bool seekable : {false, true}) {
    PartsResult result = salvage(cut_off(file.bytes, part_2 + 2 * sealed_segment + 1000), seekable);
    CHECK(difference(result.out, test_bytes(3 * segment + 100)) == "");
    CHECK(contains(result.error, ", in part 2; 49252 bytes of plaintext before that were verified"));
    for (std::size_t size = file.frames[2]; size < part_2; size += 5) {
      result = salvage(cut_off(file.bytes, size), seekable);
      CHECK(difference(result.out, test_bytes(segment + 100)) == "");
      CHECK(contains(result.error, "the input is truncated after byte "));
    }
  }
}

TEST_CASE("whatever changes, no more zeros are written than there is ciphertext for") {
  const PartsFile file = make_parts({100, 0, 50});
  for (std::size_t at = frame_header_bytes; at < file.bytes.size(); ++at)
    for (const bool seekable : {false, true})
      for (const unsigned value : {0x00u, 0x01u, 0x80u, 0xffu}) {
        Bytes bytes = file.bytes;
        if (std::exchange(bytes[at], static_cast<std::byte>(value)) == static_cast<std::byte>(value))
          continue;
        CAPTURE(at, seekable, value);
        const PartsResult result = salvage(bytes, seekable);
        CHECK(contains(result.error, "auth: "));
        CHECK(result.out.size() <= bytes.size());
        if (seekable && at < file.index_at()) CHECK(result.out.size() == 150);
      }
}

TEST_CASE("in a thousand parts with every third header damaged, the rest is recovered") {
  const PartsFile file = make_parts(std::vector<std::size_t>(1000, 20));
  Bytes bytes = file.bytes;
  Ranges lost;
  for (std::size_t i = 0; i < 1000; i += 3) {
    bytes = with_byte(std::move(bytes), file.frames[i] + salt_field);
    lost.emplace_back(20 * i, 20 * i + 20);
  }
  const PartsResult result = salvage(bytes, true);
  CHECK(difference(result.out, with_zeros(20000, lost)) == "");
  CHECK(result.warnings.size() == lost.size());
  CHECK(result.error == "auth: the input is corrupt; 6680 bytes of plaintext in 334 ranges are lost");
}

}  // namespace gpuaes
