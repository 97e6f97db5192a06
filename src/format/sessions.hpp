// The two kinds of session: counter mode, and segments with tags. And how to run one without a pipeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cipher/ciphers.hpp"
#include "cipher/job.hpp"
#include "cipher/modes/ctr.hpp"
#include "format/format.hpp"

namespace gpuaes {

// CTR mode: the output is as long as the input, and decryption is the same as encryption. `first` is the
// counter of the body's first block. `header` is written before the body.
std::unique_ptr<Session> make_ctr_session(CipherKey key, Counter first, std::vector<std::byte> header = {});

// The size of the plaintext of segments to open. Bytes at the end that are too few for a tag do not count.
std::size_t opened_size(std::size_t in_size, const SegmentRules& rules = {});

// Where a message to decrypt is in the input and the plaintext, for errors.
struct MessagePlace {
  std::uint64_t input_bytes = 0;           // before its segments
  std::uint64_t plaintext_bytes = 0;       // before its own
  std::optional<std::uint32_t> part = {};  // its number, if it is one of several
};

struct SegmentStream {
  bool decrypt = false;
  CipherKey key;
  SegmentRules rules{};
  Nonce base_nonce{};
  std::vector<std::byte> header;        // for encryption: written before the segments
  MessagePlace place;                   // for decryption
  std::vector<std::byte> commitment{};  // for decryption, as in Session
};

// A stream of segments whose last one can be recognized, so truncation is detected. With the default rules,
// these are the segments of the sealed and cobblestone formats (gpuaes-stream(5), "Message" and "Suite 02").
std::unique_ptr<Session> make_segment_session(SegmentStream stream);

// Does the work for a piece on the calling thread, and verifies it.
Outcome run_piece(const Session& session, const Piece& piece);

}  // namespace gpuaes
