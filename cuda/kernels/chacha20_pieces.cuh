// How the threads of the ChaCha20 kernel divide segments among them, and their encryption.
#pragma once

#include "cipher/chacha20/chacha20.hpp"
#include "cipher/modes/segments.hpp"
#include "kernels/device.cuh"

namespace gpuaes::cuda {

// Threads of a CUDA block that process data, and all threads.
constexpr unsigned chacha20_workers = 128, chacha20_threads = chacha20_workers + warp_lanes;
constexpr unsigned chacha20_resident = 4;  // CUDA blocks on a multiprocessor, limited by registers
constexpr unsigned quad = 4;               // pieces of a block of keystream, and threads that exchange them
constexpr unsigned piece_bytes = 16;

// Segments whose numbers are in the nonces' first 11 bytes, followed by the flag of the last segment.
static_assert(age_segments.last_flag == 11);
struct ChaCha20Segments : SegmentCut<age_segments.plain_bytes> {
  std::uint32_t base[chacha20::nonce_words];  // little-endian
  bool ends_message;

  GPUAES_HD bool is_last(std::uint64_t segment) const {
    return segment + 1 == count && (ends_message || plain_bytes(segment) < age_segments.plain_bytes);
  }
  GPUAES_HD void nonce(std::uint64_t segment, std::uint32_t* words) const {
    const std::uint64_t number = first + segment;
    const auto low = static_cast<std::uint32_t>(number), high = static_cast<std::uint32_t>(number >> 32);
    words[0] = base[0] ^ swap_bytes(high >> 24);
    words[1] = base[1] ^ swap_bytes(high << 8 | low >> 24);
    words[2] = base[2] ^ swap_bytes(low << 8 | is_last(segment));
  }
};

// The plaintext and ciphertext of all segments.
struct ChaCha20Data {
  const std::byte* in;
  std::byte* out;
  std::size_t in_stride, out_stride;  // bytes from segment to segment

  __device__ const std::byte* in_of(std::uint64_t segment) const { return in + segment * in_stride; }
  __device__ std::byte* out_of(std::uint64_t segment) const { return out + segment * out_stride; }
};

// The pieces of a segment that a thread has.
struct SegmentShare {
  __device__ SegmentShare(unsigned part, unsigned parts, std::size_t segment_bytes)
      : first(part * chacha20_workers + threadIdx.x),
        stride(parts * chacha20_workers),
        bytes(static_cast<unsigned>(segment_bytes)),
        count((bytes + piece_bytes - 1) / piece_bytes) {}

  __device__ unsigned piece(unsigned row) const { return first + row * stride; }
  __device__ bool has(unsigned row) const { return piece(row) < count; }
  __device__ bool has_whole(unsigned row) const { return (piece(row) + 1) * piece_bytes <= bytes; }
  // The rows from `row` on in which the thread has a piece, up to four.
  __device__ unsigned rows_from(unsigned row) const {
    unsigned rows = 0;
    while (rows < quad && has(row + rows)) ++rows;
    return rows;
  }
  // The counter of the keystream block that the thread computes for the four rows from `row` on.
  __device__ std::uint32_t counter(unsigned row) const { return 1 + piece(row + threadIdx.x % quad) / quad; }

  unsigned first, stride, bytes, count;  // `bytes` and `count` are those of the segment
};

// The share of a segment that a CUDA block has: one of 2^part_bits parts. (A division would take many
// instructions.)
struct ChaCha20Item {
  __device__ ChaCha20Item(const ChaCha20Segments& segments, std::uint64_t number, unsigned part_bits)
      : segment(number >> part_bits),
        part(static_cast<unsigned>(number) & ((1u << part_bits) - 1)),
        share(part, 1u << part_bits, segments.plain_bytes(segment)) {
    segments.nonce(segment, nonce);
  }

  std::uint64_t segment;
  unsigned part;
  SegmentShare share;
  std::uint32_t nonce[chacha20::nonce_words];
};

// In: four pieces of a block of keystream in each thread. Out: in thread i of a quad, piece i of the blocks
// of all four threads.
__device__ inline void transpose_in_quad(chacha20::Block& block) {
  for (unsigned distance = 1; distance < quad; distance *= 2) {
    const bool upper = threadIdx.x & distance;
    for (unsigned piece = 0; piece < quad; ++piece) {
      if (piece & distance) continue;
      for (unsigned i = 0; i < 4; ++i) {
        std::uint32_t &low = block.words[4 * piece + i], &high = block.words[4 * (piece + distance) + i];
        const std::uint32_t received = __shfl_xor_sync(0xffffffff, upper ? low : high, distance);
        low = upper ? received : low;
        high = upper ? high : received;
      }
    }
  }
}

__device__ inline void load_piece(const std::byte* data, unsigned piece, std::uint32_t* words) {
  const uint4 loaded = reinterpret_cast<const uint4*>(data)[piece];
  words[0] = loaded.x, words[1] = loaded.y, words[2] = loaded.z, words[3] = loaded.w;
}

__device__ inline void store_piece(const std::uint32_t* words, std::byte* data, unsigned piece) {
  reinterpret_cast<uint4*>(data)[piece] = uint4{words[0], words[1], words[2], words[3]};
}

// Clears the bytes of a piece from `size` on.
__device__ inline void keep_first(std::uint32_t* words, unsigned size) {
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned bytes = size < 4 * i ? 0 : size - 4 * i;
    if (bytes < 4) words[i] &= (1u << 8 * bytes) - 1;
  }
}

// Encrypts or decrypts the thread's pieces in up to four rows. Returns their ciphertext; bytes after the end
// of the segment are undefined.
template <bool opens>
__device__ inline chacha20::Block crypt_rows(const SegmentShare& share, unsigned row,
                                             chacha20::Block& keystream, const std::byte* in,
                                             std::byte* out) {
  transpose_in_quad(keystream);
  chacha20::Block loaded{};
  for (unsigned k = 0; k < quad; ++k)
    if (share.has(row + k)) load_piece(in, share.piece(row + k), loaded.words + 4 * k);
  for (unsigned i = 0; i < 16; ++i) keystream.words[i] ^= loaded.words[i];
  for (unsigned k = 0; k < quad; ++k)
    if (share.has(row + k)) store_piece(keystream.words + 4 * k, out, share.piece(row + k));
  return opens ? loaded : keystream;
}

}  // namespace gpuaes::cuda
