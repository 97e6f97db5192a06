// Salvage of files made of parts, on several lanes that may fail. tests/cli/salvage has more kinds of
// damage.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "run/parts_rig.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/parts_file.hpp"

namespace gpuaes::salvage_parts {
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

std::string warning(std::size_t at, std::size_t begin, std::size_t end) {
  return "the input is corrupt at byte " + std::to_string(bytes_before_frames + at) + "; plaintext range " +
         std::to_string(begin) + ":" + std::to_string(end - begin) + " is lost";
}

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

}  // namespace gpuaes::salvage_parts
