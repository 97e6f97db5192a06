// However sealed segments are modified and split into pieces, the released bytes are a prefix of the
// plaintext, and opening succeeds only if nothing was changed.
//
// The fuzzer's bytes are a program that chooses the kind of segments, the length of the plaintext, how to
// modify the sealed segments, and how to split them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cipher/job.hpp"
#include "format/sessions.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/program.hpp"
#include "lane/backends.hpp"
#include "support/bytes.hpp"

namespace gpuaes {
namespace {

// Segments as in sealed files, and short ones whose last may be full, as in age files.
struct Kind {
  Cipher cipher;
  SegmentRules rules;
  std::size_t max_plaintext() const { return 3 * rules.plain_bytes + 100; }
};
constexpr Kind kinds[] = {{Cipher::aes_256, {}},
                          {Cipher::chacha20_poly1305, {.plain_bytes = 80, .last_flag = 11}}};

std::unique_ptr<Session> make_session(const Kind& kind, bool decrypt) {
  CipherKey key{kind.cipher, Secret(32)};
  std::ranges::fill(key.bytes.bytes(), std::byte{7});
  return make_segment_session({.decrypt = decrypt,
                               .key = std::move(key),
                               .rules = kind.rules,
                               .base_nonce = {{1, 2, 3}, info(kind.cipher).aead.nonce_bytes},
                               .header = {},
                               .place = {}});
}

Outcome process(const Session& session, Lane& lane, std::uint64_t offset, std::span<const std::byte> in,
                bool last, Bytes& released) {
  Bytes out(session.output_size(in.size(), last));
  const Piece piece{offset, in, out, last};
  lane.start(session.job(piece));
  const Outcome outcome = session.verify(piece, lane.finish());
  released.insert(released.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(outcome.released));
  return outcome;
}

Bytes seal(const Kind& kind, const Bytes& plaintext, Lane& lane) {
  Bytes sealed;
  process(*make_session(kind, false), lane, 0, plaintext, true, sealed);
  return sealed;
}

void change(Bytes& sealed, const SegmentRules& rules, Program& program) {
  const auto at = [&](std::size_t place) { return sealed.begin() + static_cast<std::ptrdiff_t>(place); };
  const std::size_t place = program.number(sealed.size() + 1);
  switch (program.number(5)) {
    case 0:  // flip bits
      if (place < sealed.size()) sealed[place] ^= static_cast<std::byte>(program.number(256));
      return;
    case 1:  // truncate
      return sealed.resize(place);
    case 2:  // insert bytes
      sealed.insert(at(place), program.number(2 * rules.sealed_bytes()), static_cast<std::byte>(place));
      return;
    case 3:  // remove bytes
      sealed.erase(at(place), at(place + program.number(sealed.size() - place + 1)));
      return;
    case 4: {  // exchange two segments
      const std::size_t size = rules.sealed_bytes(), segments = sealed.size() / size;
      if (segments < 2) return;
      const std::size_t one = program.number(segments), other = program.number(segments);
      if (one != other) std::swap_ranges(at(one * size), at((one + 1) * size), at(other * size));
    }
  }
}

}  // namespace

void fuzz(std::span<const std::byte> input) {
  Program program(input);
  const std::unique_ptr<Lane> lane = make_cpu_lane();
  const Kind& kind = kinds[program.number(2)];
  const Bytes plaintext = test_bytes(program.number(kind.max_plaintext() + 1));
  const Bytes original = seal(kind, plaintext, *lane);
  const std::size_t segments_a_piece = 1 + program.number(3);
  Bytes sealed = original;
  while (!program.empty() && sealed.size() < 2 * kind.max_plaintext()) change(sealed, kind.rules, program);

  const std::unique_ptr<Session> session = make_session(kind, true);
  Bytes released;
  bool failed = false, last = false;
  for (std::size_t at = 0; !last && !failed;) {
    const std::size_t size = std::min(segments_a_piece * session->unit_in(), sealed.size() - at);
    last = kind.rules.last_may_be_full() ? at + size == sealed.size()
                                         : size < segments_a_piece * session->unit_in();
    failed =
        process(*session, *lane, at, std::span(sealed).subspan(at, size), last, released).error.has_value();
    at += size;
  }
  require(failed == (sealed != original));
  require(released.size() <= plaintext.size() && (failed || released.size() == plaintext.size()));
  require(std::equal(released.begin(), released.end(), plaintext.begin()));
}

}  // namespace gpuaes
