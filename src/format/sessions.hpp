// The two kinds of session: counter mode, and segments with tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cipher/ciphers.hpp"
#include "cipher/job.hpp"
#include "cipher/modes/ctr.hpp"
#include "format/format.hpp"

namespace gpuaes {

// CTR mode: the output is as long as the input, and decryption is the same as encryption. `first` is the
// counter of the body's first block. `header` is written before the body.
std::unique_ptr<Session> make_ctr_session(CipherKey key, Counter first, std::vector<std::byte> header = {});

// The cipher's suite. UsageError if it has none.
const Suite& suite_of(Cipher cipher);

struct SegmentStream {
  bool decrypt = false;
  CipherKey key;
  Nonce base_nonce{};
  std::vector<std::byte> header;   // for encryption: written before the segments
  std::uint64_t header_bytes = 0;  // for decryption: the number of bytes before the segments
};

// The segments of the sealed and cobblestone formats (gpuaes-stream(5), "Message" and "Suite 02"): 16384
// bytes of plaintext become 16400. The last segment is always shorter, and may be empty, so truncation is
// detected.
std::unique_ptr<Session> make_segment_session(SegmentStream stream);

}  // namespace gpuaes
