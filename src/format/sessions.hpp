// The two kinds of session that formats make: counter mode alone, and segments with tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cipher/ciphers.hpp"
#include "cipher/job.hpp"
#include "cipher/modes/ctr.hpp"
#include "format/format.hpp"

namespace gpuaes {

// CTR mode: the output is as long as the input, and decryption is the same as encryption. `first` is the
// counter of the body's first 16 bytes, `header` is written before the body.
std::unique_ptr<Session> make_ctr_session(CipherKey key, Counter first, std::vector<std::byte> header = {});

// UsageError for a cipher without one.
const Suite& suite_of(Cipher cipher);

struct SegmentStream {
  bool decrypt = false;
  CipherKey key;
  Nonce base_nonce{};
  std::vector<std::byte> header;   // to encrypt: what is to be written before the segments
  std::uint64_t header_bytes = 0;  // to decrypt: how many bytes of the input are before them
};

// Segments, of the sealed and the cobblestone format (gpuaes-stream(5), "Message" and "Suite 02"): 16384
// bytes of plaintext become 16400. The last segment is always a short one, and may be empty: it shows a
// reader that nothing was cut off.
std::unique_ptr<Session> make_segment_session(SegmentStream stream);

}  // namespace gpuaes
