// Checks of sealing, opening and counter mode for lanes and ciphers of any kind, in addition to published
// vectors. Jobs have at most four segments.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cipher/modes/segments.hpp"
#include "lane/backends.hpp"
#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/chacha20_vectors.hpp"
#include "support/counters.hpp"
#include "support/gcm_vectors.hpp"
#include "support/keys.hpp"
#include "support/kuznyechik_reference.hpp"
#include "support/kuznyechik_vectors.hpp"
#include "support/reference_lane.hpp"
#include "support/threads.hpp"

namespace gpuaes {

inline constexpr std::size_t max_checked_bytes =
    4 * age_segments.sealed_bytes();  // of a job's input or output

inline CipherKey some_key(Cipher cipher, std::size_t from = 7) {
  return make_key(test_bytes(info(cipher).key_bytes, from), cipher);
}

inline Nonce some_nonce(Cipher cipher) {
  const Bytes bytes = from_hex("7edcba98765432100123456789abcdef");
  return nonce_of(std::span(bytes).first(info(cipher).aead.nonce_bytes));
}

inline Bytes joined(Bytes bytes, std::span<const std::byte> more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

// A copy of a part of `bytes`.
inline Bytes part_of(const Bytes& bytes, std::size_t at, std::size_t max_size) {
  const auto part = std::span(bytes).subspan(at, std::min(max_size, bytes.size() - at));
  return {part.begin(), part.end()};
}

inline Bytes ctr(Lane& lane, const CipherKey& key, const CounterBlock& counter, const Bytes& in) {
  Bytes out(in.size(), std::byte{0xa5});
  lane.start({.key = &key, .in = in, .out = out, .counter = counter});
  CHECK_FALSE(lane.finish().has_value());
  return out;
}

// Sealing and opening ------------------------------------------------------------------------------

// Parameters shared by the segments of a job.
struct SegmentParameters {
  const CipherKey& key;
  Nonce base_nonce = some_nonce(key.cipher);
  std::uint64_t first_segment = 0;
  Bytes aad{};
  bool ends_message = false;

  const SegmentRules& rules() const { return info(key.cipher).segments; }
};

// Runs a job with `segments` segments: as many as `plain` fills, or one more, which is empty.
inline Bytes seal(Lane& lane, const SegmentParameters& stream, const Bytes& plain, std::size_t segments) {
  Bytes sealed(plain.size() + segments * tag_bytes, std::byte{0xa5});
  lane.start({.operation = Operation::seal,
              .key = &stream.key,
              .in = plain,
              .out = sealed,
              .rules = stream.rules(),
              .base_nonce = stream.base_nonce,
              .first_segment = stream.first_segment,
              .ends_message = stream.ends_message,
              .aad = stream.aad});
  CHECK_FALSE(lane.finish().has_value());
  return sealed;
}

struct Opened {
  std::optional<std::size_t> bad_segment;
  Bytes plain;
};

inline Opened open(Lane& lane, const SegmentParameters& stream, const Bytes& sealed) {
  const std::size_t tags = count_segments(sealed.size(), stream.rules()) * tag_bytes;
  Opened opened{{}, Bytes(sealed.size() - tags, std::byte{0xa5})};
  lane.start({.operation = Operation::open,
              .key = &stream.key,
              .in = sealed,
              .out = opened.plain,
              .rules = stream.rules(),
              .base_nonce = stream.base_nonce,
              .first_segment = stream.first_segment,
              .ends_message = stream.ends_message,
              .aad = stream.aad});
  opened.bad_segment = lane.finish();
  return opened;
}

inline void check_opens(Lane& lane, const SegmentParameters& stream, const Bytes& sealed,
                        const Bytes& plain) {
  const Opened opened = open(lane, stream, sealed);
  CHECK_FALSE(opened.bad_segment.has_value());
  CHECK(difference(opened.plain, plain) == "");
}

// Checks that the job opens up to segment `bad`.
inline void check_opens_before(Lane& lane, const SegmentParameters& stream, const Bytes& sealed,
                               const Bytes& plain, std::size_t bad) {
  const Opened opened = open(lane, stream, sealed);
  CHECK(opened.bad_segment == std::optional<std::size_t>(bad));
  const Bytes expected = part_of(plain, 0, bad * stream.rules().plain_bytes);
  CHECK(difference(part_of(opened.plain, 0, expected.size()), expected) == "");
}

// Jobs whose last segment is empty, short or full, after zero to two full ones. Both lanes must produce the
// same output, and each must open what the other sealed.
inline void check_segment_lengths(Lane& lane, Lane& other_lane, Cipher cipher) {
  const CipherKey key = some_key(cipher);
  const SegmentRules& rules = info(cipher).segments;
  const std::size_t segment = rules.plain_bytes;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i <= 33; ++i) lengths.push_back(i);
  for (const std::size_t around : {std::size_t{128}, std::size_t{512}, std::size_t{2048}, std::size_t{4096},
                                   std::size_t{8192}, segment - 32, segment - 16, segment})
    for (const std::size_t length : {around - 1, around, around + 1})
      if (length <= segment) lengths.push_back(length);
  for (std::size_t full = 0; full <= 2; ++full)
    for (const std::size_t length : lengths) {
      if (full > 0 && length > 33 && length < segment - 33) continue;
      CAPTURE(lane.name(), info(cipher).name, full, length);
      const Bytes plain = test_bytes(full * segment + length);
      const SegmentParameters stream{key, some_nonce(cipher), 5, test_bytes(20),
                                     rules.last_may_be_full() && length == segment};
      const Bytes sealed = seal(lane, stream, plain, full + 1);
      CHECK(difference(sealed, seal(other_lane, stream, plain, full + 1)) == "");
      for (Lane* const opener : {&lane, &other_lane}) check_opens(*opener, stream, sealed, plain);
    }
}

// Segment numbers are XORed into the nonce, and Kuznyechik's nonces keep their highest bit clear: a job of
// three segments equals three jobs of one segment each, with number 0 and its nonce as the base.
inline void check_segment_numbering(Lane& lane, Cipher cipher) {
  struct Numbering {
    std::string_view base;
    std::uint64_t first;
    std::array<std::string_view, 3> nonces;  // of the three segments
  };
  static constexpr Numbering of_gcm[] = {
      {"fedcba9876543210f0e1d2c3",
       0,
       {"fedcba9876543210f0e1d2c3", "fedcba9876543210f0e1d2c2", "fedcba9876543210f0e1d2c1"}},
      {"fedcba9876543210f0e1d2c3",
       0xff,
       {"fedcba9876543210f0e1d23c", "fedcba9876543210f0e1d3c3", "fedcba9876543210f0e1d3c2"}},
      {"fedcba9876543210f0e1d2c3",
       0xfffffffe,
       {"fedcba98765432100f1e2d3d", "fedcba98765432100f1e2d3c", "fedcba9876543211f0e1d2c3"}},
      {"fedcba9876543210f0e1d2c3",
       0x2000000000,
       {"fedcba9876543230f0e1d2c3", "fedcba9876543230f0e1d2c2", "fedcba9876543230f0e1d2c1"}}};
  static constexpr Numbering of_mgm[] = {
      {"7edcba98765432100123456789abcdef",
       0xffffffff,
       {"7edcba98765432100123456776543210", "7edcba98765432100123456689abcdef",
        "7edcba98765432100123456689abcdee"}},
      {"fedcba98765432100123456789abcd00",
       0xe,
       {"7edcba98765432100123456789abcd0e", "7edcba98765432100123456789abcd0f",
        "7edcba98765432100123456789abcd10"}}};
  // The flag of the last segment, in the last byte, is added to the nonce of the third.
  static constexpr Numbering of_age[] = {
      {"000000000000000000000000",
       0,
       {"000000000000000000000000", "000000000000000000000100", "000000000000000000000200"}},
      {"fedcba9876543210f0e1d200",
       0xfffffffe,
       {"fedcba98765432ef0f1e2c00", "fedcba98765432ef0f1e2d00", "fedcba9876543310f0e1d200"}},
      {"000000000000000000000000",
       0x0102030405060708,
       {"000000010203040506070800", "000000010203040506070900", "000000010203040506070a00"}}};
  const CipherKey key = some_key(cipher);
  const std::size_t segment = info(cipher).segments.plain_bytes;
  const Bytes plain = test_bytes(2 * segment + 100);
  const auto numberings = [&]() -> std::span<const Numbering> {
    switch (info(cipher).family) {
      case Family::aes:
        return of_gcm;
      case Family::kuznyechik:
        return of_mgm;
      case Family::chacha20:
        return of_age;
    }
    return {};
  }();
  REQUIRE(!numberings.empty());
  for (const Numbering& numbering : numberings) {
    CAPTURE(lane.name(), numbering.first);
    const SegmentParameters stream{key, nonce_of(from_hex(numbering.base)), numbering.first};
    const Bytes sealed = seal(lane, stream, plain, 3);
    Bytes expected;
    for (std::size_t i = 0; i < 3; ++i) {
      const SegmentParameters alone{key, nonce_of(from_hex(numbering.nonces[i]))};
      expected = joined(std::move(expected), seal(lane, alone, part_of(plain, i * segment, segment), 1));
    }
    CHECK(difference(sealed, expected) == "");
    check_opens(lane, stream, sealed, plain);
  }
}

// Flipped bits anywhere in any segment, and in two segments; segments in the wrong order; and wrong
// parameters.
inline void check_bad_segments(Lane& lane, Cipher cipher) {
  const CipherKey key = some_key(cipher);
  const SegmentParameters stream{key, some_nonce(cipher), 9, test_bytes(20)};
  const std::size_t sealed_segment = stream.rules().sealed_bytes();
  const Bytes plain = test_bytes(3 * stream.rules().plain_bytes + 33);
  const Bytes sealed = seal(*make_cpu_lane(), stream, plain, 4);
  const auto flipped = [](Bytes bytes, std::size_t at, unsigned bit) {
    bytes.at(at) ^= std::byte{1} << bit;
    return bytes;
  };
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t begin = i * sealed_segment;
    const std::size_t end = std::min(begin + sealed_segment, sealed.size());
    for (std::size_t back = 1; back <= 18; ++back) {  // the tag and the last two bytes before it
      CAPTURE(lane.name(), i, back);
      check_opens_before(lane, stream, flipped(sealed, end - back, back % 8), plain, i);
    }
    for (std::size_t other = i; other < 4; ++other)
      check_opens_before(lane, stream, flipped(flipped(sealed, begin, 0), other * sealed_segment + 5, 3),
                         plain, i);
  }
  for (std::size_t i = 0; i + 1 < 3; ++i) {
    Bytes swapped = sealed;
    const auto at = swapped.begin() + static_cast<std::ptrdiff_t>(i * sealed_segment);
    std::swap_ranges(at, at + sealed_segment, at + sealed_segment);
    check_opens_before(lane, stream, swapped, plain, i);
  }
  check_opens_before(lane, {key, stream.base_nonce, 8, stream.aad}, sealed, plain, 0);
  check_opens_before(lane, {key, stream.base_nonce, 9, test_bytes(19)}, sealed, plain, 0);
  check_opens(lane, stream, sealed, plain);  // a bad job does not affect the next one
}

// Associated data of many lengths.
inline void check_aad(Lane& lane, Lane& other_lane, Cipher cipher) {
  const CipherKey key = some_key(cipher);
  const SegmentRules& rules = info(cipher).segments;
  std::vector<std::size_t> sizes{512, 1008, 1023, 1024};
  for (std::size_t size = 0; size <= 128; ++size) sizes.push_back(size);
  for (const std::size_t size : sizes)
    for (const std::size_t length : {std::size_t{0}, std::size_t{40}, rules.plain_bytes + 1}) {
      if (length > rules.plain_bytes && size % 15 > 2) continue;  // the reference is slow
      CAPTURE(lane.name(), size, length);
      SegmentParameters stream{key, some_nonce(cipher), 3, test_bytes(size, 50)};
      const Bytes plain = test_bytes(length);
      const std::size_t segments = count_segments(length + tag_bytes, rules);
      const Bytes sealed = seal(other_lane, stream, plain, segments);
      CHECK(difference(seal(lane, stream, plain, segments), sealed) == "");
      check_opens(lane, stream, sealed, plain);
      if (size == 0) continue;
      stream.aad[size - 1] ^= std::byte{1};
      CHECK(open(lane, stream, sealed).bad_segment == std::optional<std::size_t>(0));
    }
}

// Jobs of all operations and ciphers, with two keys of each, in random order: no job affects the next one.
inline void check_turns(Lane& lane, Lane& other_lane) {
  const Jitter random(11);
  for (int i = 0; i < 600; ++i) {
    const CipherInfo& row = ciphers[random.random() % ciphers.size()];
    const CipherKey key = some_key(row.cipher, random.random() % 2);
    const SegmentParameters stream{key, some_nonce(key.cipher), random.random() % 1000,
                                   test_bytes(random.random() % 40)};
    const Bytes plain = test_bytes(random.random() % 200, random.random() % 1000);
    const std::uint64_t operation = random.random() % 4;
    CAPTURE(lane.name(), i, operation, info(key.cipher).name);
    if (operation == 0) {
      if (!row.ctr) continue;
      const CounterBlock counter = store_counter({random.random(), random.random()});
      CHECK(difference(ctr(lane, key, counter, plain), ctr(other_lane, key, counter, plain)) == "");
      continue;
    }
    Bytes sealed = seal(other_lane, stream, plain, 1);
    if (operation == 1) CHECK(difference(seal(lane, stream, plain, 1), sealed) == "");
    if (operation == 2) check_opens(lane, stream, sealed, plain);
    if (operation == 3) {
      sealed[random.random() % sealed.size()] ^= std::byte{0x10};
      CHECK(open(lane, stream, sealed).bad_segment.has_value());
    }
  }
}

inline void check_job_without_segments(Lane& lane, Cipher cipher) {
  const CipherKey key = some_key(cipher);
  CHECK(seal(lane, {key}, {}, 0).empty());
  CHECK_FALSE(open(lane, {key}, {}).bad_segment.has_value());
}

// Opens each vector that a job supports, and seals the valid ones. There must be `expected` vectors that a
// job supports.
inline void check_gcm_vectors(Lane& lane, const std::vector<GcmVector>& vectors, std::size_t expected) {
  std::size_t count = 0;
  for (const GcmVector& vector : vectors) {
    if (!vector.suits_job()) continue;
    ++count;
    CAPTURE(lane.name(), vector.name);
    const CipherKey key = make_key(vector.key);
    const SegmentParameters stream{key, nonce_of(vector.iv), 0, vector.aad};
    const Bytes sealed = joined(vector.ciphertext, vector.tag);
    const Opened opened = open(lane, stream, sealed);
    if (vector.valid) {
      CHECK(difference(seal(lane, stream, vector.plain, 1), sealed) == "");
      CHECK_FALSE(opened.bad_segment.has_value());
      CHECK(difference(opened.plain, vector.plain) == "");
    } else {
      CHECK(opened.bad_segment == std::optional<std::size_t>(0));
    }
  }
  CHECK(count == expected);
}

inline void check_cavp(Lane& lane) {
  check_gcm_vectors(lane, cavp_gcm_vectors(), 2250);
}
inline void check_wycheproof(Lane& lane) {
  check_gcm_vectors(lane, wycheproof_gcm_vectors(), 197);
}

// The lane adds the flag of the last segment to the nonce.
inline void check_wycheproof_chacha20(Lane& lane) {
  STATIC_REQUIRE(std::size(wycheproof_chacha20) == 316);
  for (const std::string_view line : wycheproof_chacha20) {
    const ChaCha20Vector vector = parse_chacha20_vector(line);
    CAPTURE(lane.name(), vector.number);
    const CipherKey key = make_key(vector.key, Cipher::chacha20_poly1305);
    SegmentParameters stream{key, nonce_of(vector.nonce), 0, vector.aad};
    stream.base_nonce.bytes[11] ^= 1;
    const Opened opened = open(lane, stream, vector.sealed);
    CHECK(opened.bad_segment.has_value() == (vector.result == "invalid"));
    if (opened.bad_segment) continue;
    CHECK(difference(opened.plain, vector.plain) == "");
    CHECK(difference(seal(lane, stream, vector.plain, 1), vector.sealed) == "");
  }
}

// Kuznyechik ---------------------------------------------------------------------------------------

// GOST R 34.13-2015, A.1.2.
inline void check_kuznyechik_ctr_example(Lane& lane) {
  const CipherKey key = make_key(from_hex(kuznyechik_key), Cipher::kuznyechik);
  const Bytes plaintext = from_hex(kuznyechik_plaintext);
  const Bytes ciphertext = from_hex(
      "f195d8bec10ed1dbd57b5fa240bda1b8 85eee733f6a13e5df33ce4b33c45dee4"
      "a5eae88be6356ed3d5e877f13564a3a5 cb91fab1f20cbab6d1c6d15820bdba73");
  const CounterBlock counter = counter_block("1234567890abcef00000000000000000");
  CHECK(difference(ctr(lane, key, counter, plaintext), ciphertext) == "");
  CHECK(difference(ctr(lane, key, counter, ciphertext), plaintext) == "");
}

// Counters that carry out of the low half or wrap.
inline void check_kuznyechik_counters(Lane& lane) {
  const CipherKey key = make_key(test_bytes(32, 99), Cipher::kuznyechik);
  const kuznyechik::RoundKeys keys = kuznyechik::expand_key(key.bytes.bytes());
  for (const Counter& first : {Counter{5, 0xfffffff0}, Counter{5, all - 40}, Counter{all, all - 1000}}) {
    Bytes keystream;
    for (std::uint64_t i = 0; i < 4097; ++i) {
      const kuznyechik::Block block = kuznyechik::encrypt(keys, store_counter(first + i));
      const auto bytes = std::as_bytes(std::span(block));
      keystream.insert(keystream.end(), bytes.begin(), bytes.end());
    }
    CAPTURE(first.high, first.low);
    CHECK(difference(ctr(lane, key, store_counter(first), Bytes(keystream.size())), keystream) == "");
  }
}

// Compares with the reference at lengths around every boundary.
inline void check_kuznyechik_lengths(Lane& lane) {
  const CipherKey key = make_key(test_bytes(32, 7), Cipher::kuznyechik);
  const auto reference = make_reference_lane();
  const CounterBlock counter = store_counter({3, all - 20});
  const Bytes in = test_bytes(65537);
  const Bytes expected = ctr(*reference, key, counter, in);
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i <= 33; ++i) lengths.push_back(i);
  for (const std::size_t around : {64, 128, 256, 512, 1024, 2048, 4096, 65536})
    for (const int by : {-17, -16, -15, -1, 0, 1}) lengths.push_back(around + static_cast<std::size_t>(by));
  for (const std::size_t length : lengths) {
    CAPTURE(length);
    const Bytes out = ctr(lane, key, counter, Bytes(in.begin(), in.begin() + static_cast<long>(length)));
    CHECK(difference(out, std::span(expected).first(length)) == "");
  }
}

// RFC 9058, A.1.
inline void check_mgm_vectors(Lane& lane) {
  for (const MgmVector& vector : mgm_vectors) {
    CAPTURE(vector.tag);
    const CipherKey key = make_key(from_hex(vector.key), Cipher::kuznyechik);
    const SegmentParameters stream{key, nonce_of(from_hex(vector.nonce)), 0, from_hex(vector.aad)};
    const Bytes plain = from_hex(vector.plaintext);
    const Bytes expected = joined(from_hex(vector.ciphertext), from_hex(vector.tag));
    CHECK(difference(seal(lane, stream, plain, 1), expected) == "");
    check_opens(lane, stream, expected, plain);
  }
}

// Counters that overflow the right half of a block, and factors that overflow the left half. They start at
// the ciphertext of a nonce, so the nonces are found by decryption.
inline void check_mgm_halves(Lane& lane) {
  const CipherKey key = make_key(test_bytes(32, 7), Cipher::kuznyechik);
  const kuznyechik::RoundKeys keys = kuznyechik::expand_key(key.bytes.bytes());
  const Bytes plain = test_bytes(1000);
  const auto reference = make_reference_lane();
  for (const bool of_factors : {false, true}) {
    kuznyechik::Block nonce{};
    for (std::uint64_t other = 0;; ++other) {
      const Counter start = of_factors ? Counter{all - 1, other} : Counter{other, all - 1};
      nonce = kuznyechik::decrypt(keys, store_counter(start));
      if ((nonce[0] >> 7 != 0) == of_factors) break;
    }
    nonce[0] &= 0x7f;
    CAPTURE(of_factors);
    const SegmentParameters stream{key, {nonce, 16}};
    const Bytes sealed = seal(*reference, stream, plain, 1);
    CHECK(difference(seal(lane, stream, plain, 1), sealed) == "");
    check_opens(lane, stream, sealed, plain);
  }
}

}  // namespace gpuaes
