// How the blocks of a job are divided into tiles, the unit of work of a warp, for every kernel that makes
// AES-CTR keystream. The host also runs this code, so CI checks that each block of a job is in exactly one
// tile.
//
// A tile has `size` counter blocks, a power of two up to 256. Counter block i of an aligned tile has the
// counter first + i, where `first` is a multiple of `size`, so its counters differ only in the last byte and
// share much of the first two rounds. Data under consecutive counters may begin anywhere in its first tile
// and end anywhere in its last. The counter blocks of a gathered tile are unrelated.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cipher/host_device.hpp"
#include "cipher/job.hpp"
#include "cipher/modes/ctr.hpp"
#include "cipher/modes/segments.hpp"

namespace gpuaes {

// Data is addressed in words, 4 per block.
struct Tile {
  Counter first;
  std::int64_t offset;  // counter block i belongs to block offset + i of the data
  unsigned begin, end;  // the counter blocks that have data: begin to end - 1
  const std::uint32_t* in;
  std::uint32_t* out;
  std::uint32_t* mask;  // if not null, receives the keystream of counter block 1, for a tag
};

inline constexpr unsigned mask_block = 1;

// A counter block of a gathered tile.
struct GatheredBlock {
  bool is_used;  // if false, the other members have no meaning
  Counter counter;
  const std::uint32_t* in;
  std::uint32_t* out;
};

GPUAES_HD inline unsigned blocks_before(std::int64_t end, unsigned size) {
  return end < 0 ? 0 : end < static_cast<std::int64_t>(size) ? static_cast<unsigned>(end) : size;
}

// Data under consecutive counters.
template <unsigned size>
struct CtrTiles {
  static constexpr bool gathers = false;

  Counter counter;
  std::uint64_t blocks;
  const std::uint32_t* in;
  std::uint32_t* out;

  GPUAES_HD unsigned skipped() const { return static_cast<unsigned>(counter.low % size); }
  GPUAES_HD std::uint64_t aligned() const { return (skipped() + blocks + size - 1) / size; }
  GPUAES_HD std::uint64_t gathered() const { return 0; }
  GPUAES_HD GatheredBlock gathered_block(std::uint64_t, unsigned) const { return {}; }
  GPUAES_HD Tile tile(std::uint64_t number) const {
    const Counter first = Counter{counter.high, counter.low - skipped()} + number * size;
    const auto offset = static_cast<std::int64_t>(number * size) - skipped();
    const std::int64_t end = static_cast<std::int64_t>(blocks) - offset;
    return {first, offset, number == 0 ? skipped() : 0, blocks_before(end, size), in, out, nullptr};
  }
};

// Segments of a stream (cipher/modes/segments.hpp) with nonces of GCM: segment i of the stream has the nonce
// `base` XOR i, a big-endian number of three words.
struct Segments : SegmentCut<> {
  std::uint32_t base[3];

  GPUAES_HD Counter counter(std::uint64_t segment, unsigned last_word) const {
    const std::uint64_t number = first + segment;
    return {std::uint64_t{base[0]} << 32 | (base[1] ^ static_cast<std::uint32_t>(number >> 32)),
            std::uint64_t{base[2] ^ static_cast<std::uint32_t>(number)} << 32 | last_word};
  }
};

// The counters of a segment are nonce || 1 for the mask of its tag, and nonce || 2 to nonce || 1025 for its
// data. Aligned tiles contain the counters up to 1023; the remaining two of each segment are gathered.
template <unsigned size>
struct SegmentTiles {
  static constexpr bool gathers = true;
  static constexpr unsigned first_data_counter = 2;
  static constexpr unsigned segment_blocks = segment_bytes / 16;
  static constexpr unsigned tiles_each = segment_blocks / size;
  static constexpr unsigned left_over = first_data_counter;

  Segments segments;
  const std::byte* in;
  std::byte* out;
  std::size_t in_stride, out_stride;  // bytes from segment to segment
  std::uint32_t* masks;               // 4 words per segment

  GPUAES_HD const std::uint32_t* in_of(std::uint64_t segment) const {
    return reinterpret_cast<const std::uint32_t*>(in + segment * in_stride);
  }
  GPUAES_HD std::uint32_t* out_of(std::uint64_t segment) const {
    return reinterpret_cast<std::uint32_t*>(out + segment * out_stride);
  }

  GPUAES_HD std::uint64_t aligned() const { return segments.count * tiles_each; }
  GPUAES_HD Tile tile(std::uint64_t number) const {
    const std::uint64_t segment = number / tiles_each;
    const auto part = static_cast<unsigned>(number % tiles_each);
    const std::int64_t offset = static_cast<std::int64_t>(part) * size - first_data_counter;
    return {segments.counter(segment, part * size),
            offset,
            part == 0 ? first_data_counter : 0,
            blocks_before(segments.blocks(segment) - offset, size),
            in_of(segment),
            out_of(segment),
            part == 0 ? masks + 4 * segment : nullptr};
  }

  // Only the last segment may have fewer blocks.
  GPUAES_HD std::uint64_t gathered() const {
    const unsigned last = segments.blocks(segments.count - 1), aligned_blocks = segment_blocks - left_over;
    const unsigned of_last = last > aligned_blocks ? last - aligned_blocks : 0;
    return ((segments.count - 1) * left_over + of_last + size - 1) / size;
  }
  GPUAES_HD GatheredBlock gathered_block(std::uint64_t number, unsigned i) const {
    const std::uint64_t which = number * size + i, segment = which / left_over;
    const unsigned block = segment_blocks - left_over + static_cast<unsigned>(which % left_over);
    const bool in_job = segment < segments.count, in_segment = block < segments.blocks(segment);
    return {static_cast<bool>(in_job & in_segment), segments.counter(segment, first_data_counter + block),
            in_of(segment) + 4 * block, out_of(segment) + 4 * block};
  }
};

}  // namespace gpuaes
