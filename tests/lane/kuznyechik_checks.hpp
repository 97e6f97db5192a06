// Kuznyechik checks for any lane.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/segments.hpp"
#include "lane/backends.hpp"
#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/counters.hpp"
#include "support/keys.hpp"
#include "support/kuznyechik_vectors.hpp"
#include "support/threads.hpp"

namespace gpuaes {

inline Bytes ctr(Lane& lane, const CipherKey& key, const CounterBlock& counter, const Bytes& in) {
  Bytes out(in.size(), std::byte{0xa5});
  lane.start({.key = &key, .in = in, .out = out, .counter = counter});
  CHECK_FALSE(lane.finish().has_value());
  return out;
}

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
  for (std::size_t block = 0; block < 4; ++block) {  // each block by itself, as if a chunk began there
    const auto at = static_cast<std::ptrdiff_t>(16 * block);
    const Bytes in(plaintext.begin() + at, plaintext.begin() + at + 16);
    const Bytes out = ctr(lane, key, store_counter(load_counter(counter) + block), in);
    CHECK(difference(out, std::span(ciphertext).subspan(16 * block, 16)) == "");
  }
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

// Sealing and opening ------------------------------------------------------------------------------

inline const Nonce mgm_nonce{counter_block("7edcba98765432100123456789abcdef"), 16};

// Parameters shared by the segments of a job.
struct MgmStream {
  const CipherKey& key;
  Nonce base = mgm_nonce;
  std::uint64_t first = 0;
  Bytes aad = to_bytes("gpuaes-stream/1\n");
};

inline Bytes mgm_seal(Lane& lane, const MgmStream& stream, const Bytes& plain, std::size_t segments) {
  Bytes sealed(plain.size() + segments * tag_bytes, std::byte{0xa5});
  lane.start({.operation = Operation::seal,
              .key = &stream.key,
              .in = plain,
              .out = sealed,
              .base_nonce = stream.base,
              .first_segment = stream.first,
              .aad = stream.aad});
  CHECK_FALSE(lane.finish().has_value());
  return sealed;
}

struct MgmOpened {
  std::optional<std::size_t> bad_segment;
  Bytes plain;
};

inline MgmOpened mgm_open(Lane& lane, const MgmStream& stream, const Bytes& sealed) {
  const std::size_t segments = count_segments(sealed.size());
  MgmOpened opened{{}, Bytes(sealed.size() - segments * tag_bytes)};
  lane.start({.operation = Operation::open,
              .key = &stream.key,
              .in = sealed,
              .out = opened.plain,
              .base_nonce = stream.base,
              .first_segment = stream.first,
              .aad = stream.aad});
  opened.bad_segment = lane.finish();
  return opened;
}

inline void check_mgm_opens(Lane& lane, const MgmStream& stream, const Bytes& sealed, const Bytes& plain) {
  const MgmOpened opened = mgm_open(lane, stream, sealed);
  CHECK_FALSE(opened.bad_segment.has_value());
  CHECK(difference(opened.plain, plain) == "");
}

// Checks that the job opens up to segment `bad`.
inline void check_mgm_opens_before(Lane& lane, const MgmStream& stream, const Bytes& sealed,
                                   const Bytes& plain, std::size_t bad) {
  const MgmOpened opened = mgm_open(lane, stream, sealed);
  CHECK(opened.bad_segment == std::optional<std::size_t>(bad));
  const std::size_t good = bad * segment_bytes;
  CHECK(difference(std::span(opened.plain).first(good), std::span(plain).first(good)) == "");
}

// RFC 9058, A.1.
inline void check_mgm_vectors(Lane& lane) {
  for (const MgmVector& vector : mgm_vectors) {
    CAPTURE(vector.tag);
    const CipherKey key = make_key(from_hex(vector.key), Cipher::kuznyechik);
    const MgmStream stream{key, {counter_block(vector.nonce), 16}, 0, from_hex(vector.aad)};
    const Bytes plain = from_hex(vector.plaintext);
    Bytes expected = from_hex(vector.ciphertext);
    const Bytes tag = from_hex(vector.tag);
    expected.insert(expected.end(), tag.begin(), tag.end());
    CHECK(difference(mgm_seal(lane, stream, plain, 1), expected) == "");
    check_mgm_opens(lane, stream, expected, plain);
  }
}

// Compares with the reference; each must open what the other sealed.
inline void check_mgm_lengths(Lane& lane) {
  const CipherKey key = make_key(test_bytes(32, 7), Cipher::kuznyechik);
  const auto reference = make_reference_lane();
  for (const std::size_t full : {0, 1, 2})
    for (const std::size_t length : {0, 1, 15, 16, 17, 511, 512, 513, 16367, 16368, 16383, 16384}) {
      CAPTURE(full, length);
      const MgmStream stream{key, mgm_nonce, 5};
      const Bytes plain = test_bytes(full * segment_bytes + length);
      const Bytes sealed = mgm_seal(*reference, stream, plain, full + 1);
      CHECK(difference(mgm_seal(lane, stream, plain, full + 1), sealed) == "");
      check_mgm_opens(lane, stream, sealed, plain);
      check_mgm_opens(*reference, stream, sealed, plain);
    }
}

// Segment numbers are XORed into the nonce, whose highest bit is always clear.
inline void check_mgm_numbering(Lane& lane) {
  const CipherKey key = make_key(test_bytes(32, 7), Cipher::kuznyechik);
  const Bytes plain = test_bytes(2 * segment_bytes + 100);
  struct Numbering {
    std::string_view base;
    std::uint64_t first;
    std::array<std::string_view, 3> nonces;
  };
  constexpr Numbering numberings[] = {
      {"7edcba98765432100123456789abcdef",
       0xffffffff,
       {"7edcba98765432100123456776543210", "7edcba98765432100123456689abcdef",
        "7edcba98765432100123456689abcdee"}},
      {"fedcba98765432100123456789abcd00",
       0xe,
       {"7edcba98765432100123456789abcd0e", "7edcba98765432100123456789abcd0f",
        "7edcba98765432100123456789abcd10"}}};
  for (const Numbering& numbering : numberings) {
    CAPTURE(numbering.first);
    const Bytes sealed =
        mgm_seal(lane, {key, {counter_block(numbering.base), 16}, numbering.first}, plain, 3);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t at = i * segment_bytes, size = std::min(plain.size() - at, segment_bytes);
      const Bytes in(plain.begin() + static_cast<long>(at), plain.begin() + static_cast<long>(at + size));
      const Bytes alone = mgm_seal(lane, {key, {counter_block(numbering.nonces[i]), 16}}, in, 1);
      CHECK(difference(std::span(sealed).subspan(i * sealed_segment_bytes, size + tag_bytes), alone) == "");
    }
  }
}

inline void check_mgm_bad_segments(Lane& lane) {
  const CipherKey key = make_key(test_bytes(32, 7), Cipher::kuznyechik);
  const MgmStream stream{key, mgm_nonce, 9};
  const Bytes plain = test_bytes(2 * segment_bytes + 33);
  const Bytes sealed = mgm_seal(*make_reference_lane(), stream, plain, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t begin = i * sealed_segment_bytes;
    const std::size_t end = std::min(begin + sealed_segment_bytes, sealed.size());
    for (const std::size_t at : {begin, (begin + end) / 2, end - 17, end - 16, end - 9, end - 1}) {
      CAPTURE(i, at);
      Bytes changed = sealed;
      changed[at] ^= std::byte{1} << at % 8;
      check_mgm_opens_before(lane, stream, changed, plain, i);
      changed.back() ^= std::byte{0x80};
      if (at != end - 1) check_mgm_opens_before(lane, stream, changed, plain, i);
    }
  }
  Bytes swapped = sealed;
  std::swap_ranges(swapped.begin(), swapped.begin() + sealed_segment_bytes,
                   swapped.begin() + sealed_segment_bytes);
  check_mgm_opens_before(lane, stream, swapped, plain, 0);
  check_mgm_opens_before(lane, {key, mgm_nonce, 8}, sealed, plain, 0);
  check_mgm_opens_before(lane, {key, mgm_nonce, 9, to_bytes("gpuaes-stream/2\n")}, sealed, plain, 0);
  check_mgm_opens(lane, stream, sealed, plain);  // a bad job does not affect the next one
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
    const MgmStream stream{key, {nonce, 16}};
    const Bytes sealed = mgm_seal(*reference, stream, plain, 1);
    CHECK(difference(mgm_seal(lane, stream, plain, 1), sealed) == "");
    check_mgm_opens(lane, stream, sealed, plain);
  }
}

// Jobs of every operation and cipher in random order.
inline void check_turns_with_kuznyechik(Lane& lane) {
  const CipherKey keys[] = {make_key(test_bytes(32, 1), Cipher::kuznyechik),
                            make_key(test_bytes(32, 2), Cipher::kuznyechik), make_key(test_bytes(32, 1))};
  const Jitter random(9);
  const auto reference = make_reference_lane();
  for (int i = 0; i < 200; ++i) {
    const CipherKey& key = keys[random.random() % 3];
    const Nonce nonce{{0x7e, 0xdc, 0xba}, info(key.cipher).aead.nonce_bytes};
    const MgmStream stream{key, nonce, random.random() % 1000};
    const Bytes plain = test_bytes(random.random() % 200, random.random() % 1000);
    const std::uint64_t operation = random.random() % 3;
    CAPTURE(i, operation, info(stream.key.cipher).name);
    if (operation == 0) {
      CHECK(difference(ctr(lane, stream.key, {}, plain), ctr(*reference, stream.key, {}, plain)) == "");
      continue;
    }
    const Bytes sealed = mgm_seal(*reference, stream, plain, 1);
    if (operation == 1) CHECK(difference(mgm_seal(lane, stream, plain, 1), sealed) == "");
    if (operation == 2) check_mgm_opens(lane, stream, sealed, plain);
  }
}

}  // namespace gpuaes
