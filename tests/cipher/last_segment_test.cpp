// Finds last segments of any size in longer ones, as sealed by the reference implementations.
#include "cipher/modes/last_segment.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "cipher/modes/gcm.hpp"
#include "cipher/modes/mgm.hpp"
#include "cipher/modes/segments.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/keys.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t bad_index = 1;

struct Stream {
  Cipher cipher;
  std::size_t key_bytes;
  Nonce base_nonce;
  Bytes aad;
};

const Stream gcm{Cipher::aes_256, 32, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 12}, {}};
const Stream gcm_with_aad{Cipher::aes_128, 16, gcm.base_nonce, test_bytes(21)};
const Stream mgm_stream{
    Cipher::kuznyechik, 32, {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 16}, test_bytes(16)};
const Stream mgm_with_aad{Cipher::kuznyechik, 32, mgm_stream.base_nonce, test_bytes(21)};

Bytes join(Bytes bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}

Bytes seal_segment(const Stream& stream, std::size_t size) {
  const Bytes key = test_bytes(stream.key_bytes, 7), plain = test_bytes(size);
  const Nonce nonce = segment_nonce(stream.base_nonce, 5 + bad_index);
  Bytes ciphertext(size), tag(tag_bytes);
  if (stream.cipher == Cipher::kuznyechik)
    mgm::Mgm(key).seal(nonce, stream.aad, plain, ciphertext, tag);
  else
    Gcm(key).seal(first_counter(nonce), stream.aad, plain, ciphertext, tag);
  return join(ciphertext, tag);
}

// Searches a job whose second segment is this one.
std::optional<std::size_t> find(const Stream& stream, const Bytes& sealed) {
  const CipherKey key = make_key(test_bytes(stream.key_bytes, 7), stream.cipher);
  const Bytes in = join(Bytes(sealed_segment_bytes), sealed);
  Bytes out(segment_bytes + sealed.size() - tag_bytes);
  return find_last_segment({.operation = Operation::open,
                            .key = &key,
                            .in = in,
                            .out = out,
                            .base_nonce = stream.base_nonce,
                            .first_segment = 5,
                            .aad = stream.aad},
                           bad_index);
}

}  // namespace

TEST_CASE("a last segment is found at the beginning of a longer one, whatever its size") {
  for (const Stream* const stream : {&gcm, &gcm_with_aad, &mgm_stream, &mgm_with_aad})
    for (const std::size_t size : {0, 1, 15, 16, 17, 31, 32, 100, 8000, 16367, 16368, 16369, 16383}) {
      const Bytes sealed = seal_segment(*stream, size);
      const std::size_t room = sealed_segment_bytes - sealed.size();
      for (const std::size_t more :
           {std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{17}, room}) {
        if (more > room) continue;
        CAPTURE(static_cast<int>(stream->cipher), stream->aad.size(), size, more);
        CHECK(find(*stream, join(sealed, test_bytes(more, 3))) == sealed.size());
        Bytes damaged = join(sealed, test_bytes(more, 3));
        damaged[size / 2] ^= std::byte{1};
        CHECK_FALSE(find(*stream, damaged).has_value());
      }
    }
}

TEST_CASE("a last segment is not found in a part of it") {
  for (const Stream* const stream : {&gcm, &mgm_stream}) {
    const Bytes sealed = seal_segment(*stream, 1000);
    for (const std::size_t size : {16, 17, 500, 1000, 1015, 1016}) {
      CAPTURE(static_cast<int>(stream->cipher), size);
      CHECK_FALSE(
          find(*stream, {sealed.begin(), sealed.begin() + static_cast<std::ptrdiff_t>(size)}).has_value());
    }
  }
}

}  // namespace gpuaes
