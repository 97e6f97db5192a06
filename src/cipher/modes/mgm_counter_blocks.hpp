// The blocks that MGM encrypts for the segments of a job (RFC 9058, section 4.1), as counter blocks for
// kernels (counter_blocks.hpp). A job takes three launches, and each one needs the results of the previous
// one:
//
//     MgmStarts   the first counters of each segment, for keystream and for factors
//     MgmBody     the keystream, which is added to the data, and the factors of blocks
//     MgmSums     the sums of the products, which become the tags
//
// The host also runs this code.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cipher/modes/counter_blocks.hpp"
#include "cipher/modes/mgm.hpp"
#include "cipher/modes/segments.hpp"

namespace gpuaes {

inline constexpr unsigned segment_blocks = segment_bytes / 16;

// Segment i of the stream has the nonce `base` XOR i.
struct MgmSegments : SegmentCut<> {
  Counter base;
  unsigned aad_blocks;  // of every segment

  // One for each block of associated data and of ciphertext, and one for the block of lengths.
  GPUAES_HD unsigned max_factors() const { return aad_blocks + segment_blocks + 1; }
  GPUAES_HD unsigned factors(std::uint64_t segment) const { return aad_blocks + blocks(segment) + 1; }
  GPUAES_HD Counter nonce(std::uint64_t segment) const { return {base.high, base.low ^ (first + segment)}; }
};

// Two blocks per segment: the first counter for its keystream, and the one for its factors.
struct MgmStarts {
  MgmSegments segments;
  BlockWords* starts;

  GPUAES_HD std::uint64_t count() const { return 2 * segments.count; }
  GPUAES_HD BlockWords counter_block(std::uint64_t i) const {
    const Counter nonce = segments.nonce(i / 2);
    return block_words(i % 2 == 0 ? mgm::counter_start(nonce) : mgm::factor_start(nonce));
  }
  GPUAES_HD BlockWords load(std::uint64_t) const { return {}; }
  GPUAES_HD void store(std::uint64_t i, const BlockWords& block) const { starts[i] = block; }
};

// Where segments are read and written.
struct MgmData {
  const std::byte* in;
  std::byte* out;
  unsigned in_stride, out_stride;  // bytes from segment to segment, multiples of 16
};

// First the keystream of all segments, 1024 counter blocks for each; then the same number for the factors of
// ciphertext blocks; then the other factors. In each part, the number of counter blocks per segment is a
// power of two, because division is slow on a GPU; some of them are unused.
//
// The host computes the members, which have 32 bits where possible because a kernel has no registers to
// spare: a job with 2^32 counter blocks would have 32 GiB.
class MgmBody {
 public:
  // `factors` has room for max_factors() per segment.
  MgmBody(const MgmSegments& segments, const BlockWords* starts, const MgmData& data, BlockWords* factors)
      : starts_(starts),
        data_(data),
        factors_(factors),
        segments_(static_cast<unsigned>(segments.count)),
        last_blocks_(segments.blocks(segments.count - 1)),
        aad_blocks_(segments.aad_blocks),
        other_bits_(static_cast<unsigned>(std::bit_width(segments.aad_blocks))),
        whole_(segments_ * segment_blocks),
        max_factors_(segments.max_factors()) {}

  GPUAES_HD std::uint64_t count() const { return 2 * std::uint64_t{whole_} + (segments_ << other_bits_); }
  GPUAES_HD BlockWords counter_block(std::uint64_t i) const {
    const Position at = find(i);
    const Counter start = counter_of(starts_[2 * at.segment + at.is_factor]);
    return block_words(at.is_factor ? mgm::next_factor(start, at.number)
                                    : mgm::next_counter(start, at.number));
  }
  GPUAES_HD BlockWords load(std::uint64_t i) const {
    const Position at = find(i);
    if (at.is_factor || !at.is_used) return {};
    return reinterpret_cast<const BlockWords*>(data_.in +
                                               std::uint64_t{at.segment} * data_.in_stride)[at.number];
  }
  GPUAES_HD void store(std::uint64_t i, const BlockWords& block) const {
    const Position at = find(i);
    if (!at.is_used) return;
    if (at.is_factor)
      factors_[at.segment * max_factors_ + at.number] = block;
    else
      reinterpret_cast<BlockWords*>(data_.out + std::uint64_t{at.segment} * data_.out_stride)[at.number] =
          block;
  }

 private:
  struct Position {
    unsigned segment;
    unsigned number;  // of the block of data, or of the factor
    // Not bool: nvcc leaves old bytes of the register next to a bool, and scripts/audit mistakes them for
    // secrets.
    unsigned is_factor, is_used;
  };
  GPUAES_HD Position find(std::uint64_t i) const {
    const auto at = static_cast<unsigned>(i);
    if (at < 2 * whole_) {
      const bool is_factor = at >= whole_;
      const unsigned segment = (is_factor ? at - whole_ : at) / segment_blocks, block = at % segment_blocks;
      return {segment, is_factor ? aad_blocks_ + block : block, is_factor, block < blocks(segment)};
    }
    const unsigned segment = (at - 2 * whole_) >> other_bits_;
    const unsigned number = (at - 2 * whole_) & ((1u << other_bits_) - 1);
    return {segment, number < aad_blocks_ ? number : number + blocks(segment), true, number <= aad_blocks_};
  }
  GPUAES_HD unsigned blocks(unsigned segment) const {
    return segment + 1 < segments_ ? segment_blocks : last_blocks_;
  }

  const BlockWords* starts_;
  MgmData data_;
  BlockWords* factors_;
  unsigned segments_, last_blocks_, aad_blocks_;
  unsigned other_bits_;  // log2 of the counter blocks of a segment's other factors
  unsigned whole_;       // counter blocks of keystream
  unsigned max_factors_;
};

// Encrypts the sums in place.
struct MgmSums {
  std::uint64_t segments;
  BlockWords* sums;

  GPUAES_HD std::uint64_t count() const { return segments; }
  GPUAES_HD BlockWords counter_block(std::uint64_t i) const { return sums[i]; }
  GPUAES_HD BlockWords load(std::uint64_t) const { return {}; }
  GPUAES_HD void store(std::uint64_t i, const BlockWords& block) const { sums[i] = block; }
};

}  // namespace gpuaes
