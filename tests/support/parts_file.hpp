// Writes files made of parts (gpuaes-stream(5), "Suites 03 and 04"), from the first frame on.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "format/parts/frames.hpp"
#include "lane/backends.hpp"
#include "support/bytes.hpp"

namespace gpuaes {

inline FrameSecret frame_secret(Cipher cipher = Cipher::aes_256) {
  Secret file_key(32);
  std::ranges::copy(test_bytes(32, 11), file_key.bytes().begin());
  return make_frame_secret(cipher, file_key, to_bytes("gpuaes-stream/1\nsuite"), {});
}

struct PartsFile {
  Cipher cipher = Cipher::aes_256;
  Bytes bytes;
  std::vector<std::size_t> frames{};   // where each frame begins; the last one is the index
  std::vector<IndexEntry> entries{};   // of the index
  std::vector<std::size_t> lengths{};  // of the parts

  std::size_t index_at() const { return frames[lengths.size()]; }
  std::size_t size() const {
    std::size_t sum = 0;
    for (const std::size_t length : lengths) sum += length;
    return sum;
  }

  // Appends a frame that holds `plaintext` and says that it holds `length` bytes.
  void add_frame(FrameKind kind, std::uint32_t number, std::uint32_t of, std::span<const std::byte> plaintext,
                 std::uint64_t length) {
    const auto session = seal_frame(frame_secret(cipher), kind, number, of, length);
    frames.push_back(bytes.size());
    append(bytes, session->header());
    const auto header =
        decode_frame(std::span(bytes).subspan(frames.back()).first<frame_header_bytes>()).value();
    if (kind == FrameKind::part) entries.push_back(entry_of(header));
    Bytes segments(session->output_size(plaintext.size(), true));
    make_cpu_lane()->start(session->job({0, plaintext, segments}));
    append(bytes, segments);
  }

  void add_part(std::uint32_t number, std::uint32_t of, std::span<const std::byte> plaintext) {
    add_frame(FrameKind::part, number, of, plaintext, plaintext.size());
    lengths.push_back(plaintext.size());
  }

  // Appends the index and the number of parts.
  void finish() {
    Bytes listed;
    for (const IndexEntry& entry : entries) append(listed, encode(entry));
    const auto count = static_cast<std::uint32_t>(entries.size());
    add_frame(FrameKind::index, count, count, listed, listed.size());
    append_count(count);
  }

  void append_count(std::uint64_t count) {
    std::array<std::byte, part_count_bytes> last;
    store_big_endian(count, last);
    append(bytes, last);
  }
};

// The test bytes, cut into parts of these lengths.
inline PartsFile make_parts(const std::vector<std::size_t>& lengths, std::uint32_t of = 0,
                            Cipher cipher = Cipher::aes_256) {
  PartsFile file{.cipher = cipher, .bytes = {}};
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < lengths.size(); ++i) {
    file.add_part(i, of, test_bytes(lengths[i], at));
    at += lengths[i];
  }
  file.finish();
  return file;
}

}  // namespace gpuaes
