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

#include "cipher/places.hpp"
#include "cipher/segments.hpp"

namespace gpuaes {

inline constexpr unsigned segment_blocks = segment_bytes / 16;

// Segment i of the stream has the nonce `base` XOR i without its highest bit.
struct MgmSegments : SegmentCut {
  Counter base;
  unsigned aad_blocks;  // of every segment

  // For each block of associated data, each of ciphertext, and that of the lengths.
  GPUAES_HD unsigned most_factors() const { return aad_blocks + segment_blocks + 1; }
  GPUAES_HD unsigned factors(std::uint64_t segment) const { return aad_blocks + blocks(segment) + 1; }
  GPUAES_HD Counter nonce(std::uint64_t segment, bool highest_bit) const {
    constexpr std::uint64_t bit = std::uint64_t{1} << 63;
    return {(base.high & ~bit) | (highest_bit ? bit : 0), base.low ^ (first + segment)};
  }
};

// Two blocks for each segment: where its counters begin, and where its factors do.
struct MgmStarts {
  MgmSegments segments;
  BlockWords* starts;

  GPUAES_HD std::uint64_t count() const { return 2 * segments.count; }
  GPUAES_HD BlockWords counter_block(std::uint64_t i) const {
    return block_words(segments.nonce(i / 2, i % 2 != 0));
  }
  GPUAES_HD BlockWords load(std::uint64_t) const { return {}; }
  GPUAES_HD void put(std::uint64_t i, const BlockWords& block) const { starts[i] = block; }
};

// First the keystream of all segments, 1024 places each, then as many factors, for their blocks of
// ciphertext, and then the other factors, in a power of two of places for each segment too: a GPU takes long
// to divide. So there are places without use.
struct MgmBody {
  MgmSegments segments;
  const BlockWords* starts;
  const std::byte* in;
  std::byte* out;
  std::size_t in_stride, out_stride;  // from segment to segment, multiples of 16
  BlockWords* factors;                // most_factors() for each segment

  GPUAES_HD std::uint64_t count() const {
    return segments.count * (2 * std::uint64_t{segment_blocks} + (std::uint64_t{1} << other_bits()));
  }
  GPUAES_HD BlockWords counter_block(std::uint64_t i) const {
    const Place place = find(i);
    const Counter start = counter_of(starts[2 * place.segment + place.is_factor]);
    return block_words(place.is_factor ? Counter{start.high + place.number, start.low}
                                       : Counter{start.high, start.low + place.number});
  }
  GPUAES_HD BlockWords load(std::uint64_t i) const {
    const Place place = find(i);
    if (place.is_factor || !place.is_there) return {};
    return reinterpret_cast<const BlockWords*>(in + place.segment * in_stride)[place.number];
  }
  GPUAES_HD void put(std::uint64_t i, const BlockWords& block) const {
    const Place place = find(i);
    if (!place.is_there) return;
    if (place.is_factor)
      factors[place.segment * segments.most_factors() + place.number] = block;
    else
      reinterpret_cast<BlockWords*>(out + place.segment * out_stride)[place.number] = block;
  }

 private:
  struct Place {
    std::uint64_t segment;
    unsigned number;  // of the block of data, or of the factor
    bool is_factor, is_there;
  };
  GPUAES_HD Place find(std::uint64_t i) const {
    const std::uint64_t whole = segments.count * std::uint64_t{segment_blocks};
    if (i < 2 * whole) {
      const bool is_factor = i >= whole;
      const std::uint64_t at = is_factor ? i - whole : i, segment = at / segment_blocks;
      const unsigned block = static_cast<unsigned>(at % segment_blocks);
      return {segment, is_factor ? segments.aad_blocks + block : block, is_factor,
              block < segments.blocks(segment)};
    }
    const std::uint64_t at = i - 2 * whole, segment = at >> other_bits();
    const auto number = static_cast<unsigned>(at & ((1u << other_bits()) - 1));
    return {segment, number < segments.aad_blocks ? number : number + segments.blocks(segment), true,
            number <= segments.aad_blocks};
  }
  // The factors before those for ciphertext, and that of the lengths.
  GPUAES_HD unsigned other_bits() const {
#ifdef __CUDA_ARCH__
    return 32u - static_cast<unsigned>(__clz(static_cast<int>(segments.aad_blocks)));
#else
    return static_cast<unsigned>(std::bit_width(segments.aad_blocks));
#endif
  }
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
