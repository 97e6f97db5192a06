// AES-GCM checks for any lane, in addition to the published vectors. Jobs have at most four segments.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "cipher/modes/segments.hpp"
#include "lane/lane.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/gcm_vectors.hpp"
#include "support/keys.hpp"
#include "support/threads.hpp"

namespace gpuaes {

inline constexpr std::size_t max_checked_bytes = 4 * sealed_segment_bytes;  // of a job's input or output

inline const Nonce a_nonce = nonce_of(from_hex("fedcba9876543210f0e1d2c3"));

// A copy of a part of `bytes`.
inline Bytes part_of(const Bytes& bytes, std::size_t at, std::size_t max_size) {
  const auto part = std::span(bytes).subspan(at, std::min(max_size, bytes.size() - at));
  return {part.begin(), part.end()};
}

// Jobs whose last segment is empty, short or full, after zero to two full ones. Both lanes must produce the
// same output, and each must open what the other sealed.
inline void check_gcm_lengths(Lane& lane, Lane& other_lane) {
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i <= 33; ++i) lengths.push_back(i);
  for (const std::size_t around : {128, 512, 2048, 4096, 16352, 16368, 16384})
    for (const std::size_t length : {around - 1, around, around + 1})
      if (length <= segment_bytes) lengths.push_back(length);
  for (const std::size_t key_bytes : {16, 24, 32}) {
    const CipherKey key = make_key(test_bytes(key_bytes, 7));
    const GcmStream stream{key, a_nonce, 5, test_bytes(20)};
    for (std::size_t full = 0; full <= 2; ++full)
      for (const std::size_t length : lengths) {
        if (key_bytes != 32 && full != 1) continue;
        CAPTURE(lane.name(), key_bytes, full, length);
        const Bytes plain = test_bytes(full * segment_bytes + length);
        const Bytes sealed = seal(lane, stream, plain, full + 1);
        CHECK(difference(sealed, seal(other_lane, stream, plain, full + 1)) == "");
        for (Lane* const opener : {&lane, &other_lane}) {
          const Opened opened = open(*opener, stream, sealed, full + 1);
          CHECK_FALSE(opened.bad_segment.has_value());
          CHECK(difference(opened.plain, plain) == "");
        }
      }
  }
}

// The nonce of segment n is the base nonce XOR n: a job of three segments equals three jobs of one segment
// each, with number 0 and its nonce as the base.
inline void check_gcm_numbering(Lane& lane) {
  const CipherKey key = make_key(test_bytes(32, 7));
  const Bytes plain = test_bytes(2 * segment_bytes + 100);
  struct Numbering {
    std::uint64_t first;
    std::array<std::string_view, 3> nonces;  // of the three segments, with a_nonce as the base
  };
  constexpr Numbering numberings[] = {
      {0, {"fedcba9876543210f0e1d2c3", "fedcba9876543210f0e1d2c2", "fedcba9876543210f0e1d2c1"}},
      {0xff, {"fedcba9876543210f0e1d23c", "fedcba9876543210f0e1d3c3", "fedcba9876543210f0e1d3c2"}},
      {0xffffffff, {"fedcba98765432100f1e2d3c", "fedcba9876543211f0e1d2c3", "fedcba9876543211f0e1d2c2"}},
      {0xfffffffe, {"fedcba98765432100f1e2d3d", "fedcba98765432100f1e2d3c", "fedcba9876543211f0e1d2c3"}},
      {0x2000000000, {"fedcba9876543230f0e1d2c3", "fedcba9876543230f0e1d2c2", "fedcba9876543230f0e1d2c1"}}};
  for (const Numbering& numbering : numberings) {
    CAPTURE(lane.name(), numbering.first);
    const Bytes sealed = seal(lane, {key, a_nonce, numbering.first}, plain, 3);
    Bytes expected;
    for (std::size_t i = 0; i < 3; ++i) {
      const GcmStream alone{key, nonce_of(from_hex(numbering.nonces[i]))};
      expected =
          joined(std::move(expected), seal(lane, alone, part_of(plain, i * segment_bytes, segment_bytes), 1));
    }
    CHECK(difference(sealed, expected) == "");
    const Opened opened = open(lane, {key, a_nonce, numbering.first}, sealed, 3);
    CHECK_FALSE(opened.bad_segment.has_value());
    CHECK(difference(opened.plain, plain) == "");
  }
}

// Checks that the job opens up to segment `bad`.
inline void check_opens_before(Lane& lane, const GcmStream& stream, const Bytes& sealed, const Bytes& plain,
                               std::size_t bad) {
  const Opened opened = open(lane, stream, sealed, count_segments(sealed.size()));
  CHECK(opened.bad_segment == std::optional<std::size_t>(bad));
  const Bytes expected = part_of(plain, 0, bad * segment_bytes);
  CHECK(difference(part_of(opened.plain, 0, expected.size()), expected) == "");
}

// Flipped bits anywhere in any segment, and in two segments; segments in the wrong order; and wrong
// parameters.
inline void check_gcm_bad_segments(Lane& lane) {
  const CipherKey key = make_key(test_bytes(32, 7));
  const GcmStream stream{key, a_nonce, 9, test_bytes(20)};
  const Bytes plain = test_bytes(3 * segment_bytes + 33);
  const Bytes sealed = seal(lane, stream, plain, 4);
  const auto flipped = [](Bytes bytes, std::size_t at, unsigned bit) {
    bytes.at(at) ^= std::byte{1} << bit;
    return bytes;
  };
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t begin = i * sealed_segment_bytes;
    const std::size_t end = std::min(begin + sealed_segment_bytes, sealed.size());
    for (std::size_t back = 1; back <= 18; ++back) {  // the tag and the last two bytes before it
      CAPTURE(lane.name(), i, back);
      check_opens_before(lane, stream, flipped(sealed, end - back, back % 8), plain, i);
    }
    check_opens_before(lane, stream, flipped(sealed, begin, 7), plain, i);
    for (std::size_t other = i; other < 4; ++other)
      check_opens_before(lane, stream,
                         flipped(flipped(sealed, begin, 0), other * sealed_segment_bytes + 5, 3), plain, i);
  }
  for (std::size_t i = 0; i + 1 < 3; ++i) {
    Bytes swapped = sealed;
    const auto at = swapped.begin() + static_cast<std::ptrdiff_t>(i * sealed_segment_bytes);
    std::swap_ranges(at, at + sealed_segment_bytes, at + sealed_segment_bytes);
    check_opens_before(lane, stream, swapped, plain, i);
  }
  check_opens_before(lane, {key, a_nonce, 8, stream.aad}, sealed, plain, 0);
  check_opens_before(lane, {key, a_nonce, 9, test_bytes(19)}, sealed, plain, 0);
  const Opened last = open(lane, stream, sealed, 4);  // a bad job does not affect the next one
  CHECK_FALSE(last.bad_segment.has_value());
  CHECK(difference(last.plain, plain) == "");
}

// Associated data of every length up to 128 bytes.
inline void check_gcm_aad(Lane& lane, Lane& other_lane) {
  const CipherKey key = make_key(test_bytes(16, 7));
  for (std::size_t size = 0; size <= 128; ++size)
    for (const std::size_t length : {std::size_t{0}, std::size_t{40}, segment_bytes + 1}) {
      if (length > segment_bytes && size % 15 > 2) continue;  // the reference is slow
      CAPTURE(lane.name(), size, length);
      const GcmStream stream{key, a_nonce, 3, test_bytes(size, 50)};
      const Bytes plain = test_bytes(length);
      const std::size_t segments = count_segments(length + tag_bytes);
      const Bytes sealed = seal(other_lane, stream, plain, segments);
      CHECK(difference(seal(lane, stream, plain, segments), sealed) == "");
      const Opened opened = open(lane, stream, sealed, segments);
      CHECK_FALSE(opened.bad_segment.has_value());
      CHECK(difference(opened.plain, plain) == "");
      if (size == 0) continue;
      GcmStream other = stream;
      other.aad[size - 1] ^= std::byte{1};
      CHECK(open(lane, other, sealed, segments).bad_segment == std::optional<std::size_t>(0));
    }
}

// Jobs of all operations, with two keys of each length, in random order: no job affects the next one.
inline void check_gcm_turns(Lane& lane, Lane& other_lane) {
  const Jitter random(11);
  for (int i = 0; i < 400; ++i) {
    const std::uint64_t number = random.random() % 6;
    const CipherKey key = make_key(test_bytes(16 + 8 * (number / 2), number));
    const GcmStream stream{key, a_nonce, random.random(), test_bytes(random.random() % 40)};
    const Bytes plain = test_bytes(random.random() % 100, random.random() % 1000);
    const std::uint64_t operation = random.random() % 4;
    CAPTURE(lane.name(), i, operation);
    if (operation == 0) {
      const CounterBlock counter = store_counter({random.random(), random.random()});
      Bytes out(plain.size());
      lane.start({.key = &stream.key, .in = plain, .out = out, .counter = counter});
      CHECK_FALSE(lane.finish().has_value());
      CHECK(difference(out, libcrypto_ctr(stream.key.bytes.bytes(), counter, plain)) == "");
      continue;
    }
    Bytes sealed = seal(other_lane, stream, plain, 1);
    if (operation == 1) CHECK(difference(seal(lane, stream, plain, 1), sealed) == "");
    if (operation == 3) sealed[random.random() % sealed.size()] ^= std::byte{0x10};
    if (operation == 1) continue;
    const Opened opened = open(lane, stream, sealed, 1);
    CHECK(opened.bad_segment.has_value() == (operation == 3));
    if (operation != 3) CHECK(difference(opened.plain, plain) == "");
  }
}

}  // namespace gpuaes
