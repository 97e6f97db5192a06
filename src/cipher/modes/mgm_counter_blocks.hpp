// What MGM enciphers of a job's segments (RFC 9058, section 4.1), as places for kernels (places.hpp). A job
// takes three rounds of them, each needs what the one before made:
//
//     MgmStarts   of each segment, the first counter and the first factor before they are counted on
//     MgmBody     keystream, which is added to the data; and the factors that blocks are multiplied by
//     MgmSums     the sums of the products, of which the tags become
//
// The host runs them too.
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
struct MgmSegments : SegmentCut {
  Counter base;
  unsigned aad_blocks;  // of every segment

  // For each block of associated data, each of ciphertext, and that of the lengths.
  GPUAES_HD unsigned max_factors() const { return aad_blocks + segment_blocks + 1; }
  GPUAES_HD unsigned factors(std::uint64_t segment) const { return aad_blocks + blocks(segment) + 1; }
  GPUAES_HD Counter nonce(std::uint64_t segment) const { return {base.high, base.low ^ (first + segment)}; }
};

// Two blocks for each segment: where its counters begin, and where its factors do.
struct MgmStarts {
  MgmSegments segments;
  BlockWords* starts;

  GPUAES_HD std::uint64_t count() const { return 2 * segments.count; }
  GPUAES_HD BlockWords counter_block(std::uint64_t i) const {
    const Counter nonce = segments.nonce(i / 2);
    return block_words(i % 2 == 0 ? mgm::counter_start(nonce) : mgm::factor_start(nonce));
  }
  GPUAES_HD BlockWords load(std::uint64_t) const { return {}; }
  GPUAES_HD void put(std::uint64_t i, const BlockWords& block) const { starts[i] = block; }
};

// Where the data of segments is, and where it goes.
struct MgmData {
  const std::byte* in;
  std::byte* out;
  unsigned in_stride, out_stride;  // bytes from segment to segment, multiples of 16
};

// First the keystream of all segments, 1024 places each, then as many factors, for their blocks of
// ciphertext, and then the other factors, in a power of two of places for each segment too: a GPU takes long
// to divide. So there are places without use. Numbers are made on the host and of 32 bits where they can be,
// since a kernel has no registers for them: a job of 2^32 places would have 32 GiB.
class MgmBody {
 public:
  // `factors`: max_factors() for each segment.
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
    const Place place = find(i);
    const Counter start = counter_of(starts_[2 * place.segment + place.is_factor]);
    return block_words(place.is_factor ? mgm::next_factor(start, place.number)
                                       : mgm::next_counter(start, place.number));
  }
  GPUAES_HD BlockWords load(std::uint64_t i) const {
    const Place place = find(i);
    if (place.is_factor || !place.is_there) return {};
    return reinterpret_cast<const BlockWords*>(data_.in +
                                               std::uint64_t{place.segment} * data_.in_stride)[place.number];
  }
  GPUAES_HD void put(std::uint64_t i, const BlockWords& block) const {
    const Place place = find(i);
    if (!place.is_there) return;
    if (place.is_factor)
      factors_[place.segment * max_factors_ + place.number] = block;
    else
      reinterpret_cast<BlockWords*>(data_.out +
                                    std::uint64_t{place.segment} * data_.out_stride)[place.number] = block;
  }

 private:
  struct Place {
    unsigned segment;
    unsigned number;  // of the block of data, or of the factor
    // Words, since nvcc leaves old bytes of a register beside a bool, which scripts/audit takes for secrets.
    unsigned is_factor, is_there;
  };
  GPUAES_HD Place find(std::uint64_t i) const {
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
  unsigned other_bits_;  // of factors that are not for ciphertext
  unsigned whole_;       // places of keystream
  unsigned max_factors_;
};

// In place.
struct MgmSums {
  std::uint64_t segments;
  BlockWords* sums;

  GPUAES_HD std::uint64_t count() const { return segments; }
  GPUAES_HD BlockWords counter_block(std::uint64_t i) const { return sums[i]; }
  GPUAES_HD BlockWords load(std::uint64_t) const { return {}; }
  GPUAES_HD void put(std::uint64_t i, const BlockWords& block) const { sums[i] = block; }
};

}  // namespace gpuaes
