// ChaCha20-Poly1305 (RFC 8439, section 2.8) of a job's segments as age cuts them: cipher and tag in one pass.
// No tables; no memory address or branch depends on key or data, except the final branch on the verdict,
// which is public.
//
// Up to eight CUDA blocks share a segment, and each of their threads takes every stride-th of its 16-byte
// pieces, where the stride is the number of these threads. A row is one piece of each thread. For every four
// rows, a thread computes one block of keystream, and groups of four threads exchange its pieces. A thread
// evaluates the polynomial of its pieces by Horner's method, four rows at a time, and multiplies the result
// by the power of r that its last piece needs. One more warp computes r and its powers for the next segment,
// and makes the tag of the previous one, while the others are at work.
#pragma once

#include "cipher/chacha20/chacha20.hpp"
#include "cipher/chacha20/poly1305.hpp"
#include "kernels/chacha20_pieces.cuh"
#include "kernels/device.cuh"
#include "kernels/kernels.hpp"
#include "kernels/tags.cuh"

namespace gpuaes::cuda {

// What the threads of a CUDA block share.
struct ChaCha20Memory {
  poly1305::Number powers[chacha20_workers];  // r, r^2, ...
  poly1305::Number rows[max_chacha20_parts];  // powers of r^chacha20_workers
  poly1305::Number strides[quad];             // powers of r^(chacha20_workers * parts)
  poly1305::Number sums[chacha20_workers / warp_lanes];
  std::uint32_t s[4];
};

// Adds up to four rows to the thread's polynomial. `whole`: all four have 16 bytes.
template <bool whole>
__device__ inline void hash_rows(const SegmentShare& share, unsigned row, chacha20::Block& ciphertext,
                                 const poly1305::Number* strides, poly1305::Number& sum) {
  const unsigned rows = whole ? quad : share.rows_from(row);
  poly1305::Product next{};
  if (row > 0) add_product(sum, strides[rows - 1], next);
  for (unsigned k = 0; k < quad; ++k) {
    if (k >= rows) break;
    std::uint32_t* const words = ciphertext.words + 4 * k;
    if (!whole) keep_first(words, share.bytes - share.piece(row + k) * piece_bytes);
    const poly1305::Number piece = poly1305::load(words, true);
    if (k + 1 < rows)
      add_product(piece, strides[rows - 2 - k], next);
    else
      add_number(piece, next);
  }
  sum = reduce(next);
}

// powers[i] = powers[0]^(i + 1), for i below `count`, which is a power of two. All threads of a warp must
// call it.
__device__ inline void make_powers(poly1305::Number* powers, unsigned count) {
  GPUAES_NO_UNROLL
  for (unsigned done = 1; done < count; done *= 2) {
    __syncwarp();
    const poly1305::Number factor = powers[done - 1];
    for (unsigned i = threadIdx.x % warp_lanes; i < done; i += warp_lanes)
      powers[done + i] = multiply(powers[i], factor);
  }
  __syncwarp();
}

// r and s from block 0 of the keystream (RFC 8439, section 2.6), and powers of r.
__device__ inline void prepare(const chacha20::Block& block, unsigned parts, ChaCha20Memory& memory) {
  __syncwarp();  // the keys that were in this memory have been used
  if (threadIdx.x % warp_lanes == 0) {
    memory.powers[0] = poly1305::load_clamped(block.words);
    for (unsigned i = 0; i < 4; ++i) memory.s[i] = block.words[4 + i];
  }
  make_powers(memory.powers, chacha20_workers);
  if (threadIdx.x % warp_lanes == 0) memory.rows[0] = memory.powers[chacha20_workers - 1];
  make_powers(memory.rows, parts);
  if (threadIdx.x % warp_lanes == 0) memory.strides[0] = memory.rows[parts - 1];
  make_powers(memory.strides, quad);
}

// Moves the thread's polynomial to the place of its last piece, counted from the end of the segment.
__device__ inline poly1305::Number place(const SegmentShare& share, const poly1305::Number& sum,
                                         const ChaCha20Memory& memory) {
  const unsigned after = (share.count - 1 - share.first) & (share.stride - 1);  // pieces after the last
  const poly1305::Number placed = multiply(sum, memory.powers[after % chacha20_workers]);
  const unsigned rows = after / chacha20_workers;
  return rows == 0 ? placed : multiply(placed, memory.rows[rows - 1]);
}

// The limbs of the result may need 32 bits.
__device__ inline poly1305::Number sum_of_warp(poly1305::Number sum) {
  for (std::uint32_t& limb : sum.limbs)
    for (unsigned distance = warp_lanes / 2; distance > 0; distance /= 2)
      limb += __shfl_xor_sync(0xffffffff, limb, distance);
  return sum;
}

// Adds `count` numbers with limbs of up to 32 bits.
__device__ inline poly1305::Number sum_of(const volatile poly1305::Number* numbers, unsigned count) {
  poly1305::Product sum{};
  for (unsigned k = 0; k < count; ++k)
    for (unsigned i = 0; i < 5; ++i) sum.columns[i] += numbers[k].limbs[i];
  return poly1305::reduce(sum);
}

// Adds the sum of this CUDA block to those of the others that share the segment. Returns whether it was the
// last; `sum` is then the total. All threads of a warp must call it.
__device__ inline bool collect(poly1305::Number& sum, unsigned part, unsigned parts, SegmentSums& sums) {
  unsigned earlier = 0;
  if (threadIdx.x % warp_lanes == 0) {
    sums.of[part] = sum;
    __threadfence();
    earlier = atomicAdd(&sums.arrived, 1);
    __threadfence();
  }
  __syncwarp();  // extends the fences to the warp
  if (__shfl_sync(0xffffffff, earlier, 0, warp_lanes) + 1 < parts) return false;
  sum = sum_of(sums.of, parts);
  __syncwarp();
  if (threadIdx.x % warp_lanes == 0) sums = {};
  return true;
}

// The polynomial of the associated data times r^pieces.
__device__ inline poly1305::Number hash_aad(const PublicData& aad, unsigned pieces,
                                            const poly1305::Number& r) {
  poly1305::Number sum{};
  for (unsigned word = 0; 4 * word < aad.size; word += 4)
    sum = multiply(add(sum, poly1305::load(aad.words + word, true)), r);
  for (poly1305::Number power = r; pieces > 0; pieces /= 2, power = multiply(power, power))
    if (pieces % 2 == 1) sum = multiply(sum, power);
  return sum;
}

// The tag from the sum of all pieces.
__device__ inline uint4 make_tag(poly1305::Number sum, const ChaCha20Memory& memory, const PublicData& aad,
                                 const SegmentShare& share) {
  const poly1305::Number r = memory.powers[0];
  if (aad.size > 0) sum = add(sum, hash_aad(aad, share.count, r));
  const std::uint32_t lengths[4] = {aad.size, 0, share.bytes, 0};
  std::uint32_t tag[4];
  finish(multiply(add(sum, poly1305::load(lengths, true)), r), memory.s, tag);
  return {tag[0], tag[1], tag[2], tag[3]};
}

// Adds the sum of a CUDA block to those of the others that share the segment. The last of them makes the tag.
template <bool opens>
__device__ inline void finish_item(const ChaCha20Item& item, unsigned parts, const PublicData& aad,
                                   const ChaCha20Data& data, const ChaCha20Memory& memory, SegmentSums* sums,
                                   std::uint32_t* first_bad) {
  poly1305::Number sum = sum_of(memory.sums, chacha20_workers / warp_lanes);
  if (parts > 1 && !collect(sum, item.part, parts, sums[item.segment])) return;
  const std::byte* const sealed = opens ? data.in_of(item.segment) : data.out_of(item.segment);
  finish_tag(make_tag(sum, memory, aad, item.share), const_cast<std::byte*>(sealed) + item.share.bytes,
             item.segment, opens ? first_bad : nullptr, threadIdx.x % warp_lanes);
}

// A thread's sum over its pieces, multiplied by the power of r of its last piece. `ciphertext` has the first
// four rows.
template <bool opens>
__device__ inline poly1305::Number sum_of_thread(const ChaCha20Item& item, const std::uint32_t* key,
                                                 chacha20::Block& ciphertext, const std::byte* in,
                                                 std::byte* out, const ChaCha20Memory& memory) {
  poly1305::Number sum{};
  GPUAES_NO_UNROLL
  for (unsigned row = 0;;) {
    if (item.share.has_whole(row + quad - 1))
      hash_rows<true>(item.share, row, ciphertext, memory.strides, sum);
    else if (item.share.has(row))
      hash_rows<false>(item.share, row, ciphertext, memory.strides, sum);
    row += quad;
    if (row * item.share.stride >= item.share.count) break;
    chacha20::Block keystream = chacha20::block(key, item.share.counter(row), item.nonce);
    ciphertext = crypt_rows<opens>(item.share, row, keystream, in, out);
  }
  return place(item.share, sum, memory);
}

template <bool opens>
static __global__ void __launch_bounds__(chacha20_threads, chacha20_resident)
    chacha20_poly1305_kernel(const std::uint32_t* key, PublicData aad, ChaCha20Segments segments,
                             ChaCha20Data data, unsigned part_bits, SegmentSums* sums,
                             std::uint32_t* first_bad) {
  extern __shared__ uint4 chacha20_memory[];
  auto* const memories = reinterpret_cast<ChaCha20Memory*>(chacha20_memory);
  const unsigned warp = threadIdx.x / warp_lanes;
  const bool prepares = threadIdx.x >= chacha20_workers;
  const unsigned parts = 1u << part_bits;
  const std::uint64_t items = segments.count * parts;
  let_later_begin();
  unsigned turn = 0;  // the memory of this item; the other one is that of the previous item and the next
  GPUAES_NO_UNROLL
  for (std::uint64_t number = blockIdx.x;; number += gridDim.x, turn ^= 1) {
    ChaCha20Memory& memory = memories[turn];
    const ChaCha20Item item(segments, number, part_bits);
    const std::byte* const in = data.in_of(item.segment);
    std::byte* const out = data.out_of(item.segment);
    chacha20::Block block;
    if (number < items) {
      block = chacha20::block(key, prepares ? 0 : item.share.counter(0), item.nonce);
      wait_for_earlier();
      if (prepares)
        prepare(block, parts, memory);
      else
        block = crypt_rows<opens>(item.share, 0, block, in, out);
    }
    __syncthreads();
    if (prepares && number >= gridDim.x) {
      const ChaCha20Item previous(segments, number - gridDim.x, part_bits);
      finish_item<opens>(previous, parts, aad, data, memories[turn ^ 1], sums, first_bad);
    }
    if (number >= items) break;
    if (prepares) continue;
    const poly1305::Number sum = sum_of_warp(sum_of_thread<opens>(item, key, block, in, out, memory));
    if (threadIdx.x % warp_lanes == 0) memory.sums[warp] = sum;
  }
  __syncthreads();
  wipe_shared(chacha20_memory, 2 * sizeof(ChaCha20Memory));
}

}  // namespace gpuaes::cuda
