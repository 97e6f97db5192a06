// The body of kuznyechik_sliced.cpp, which includes it once for each set of vector instructions. Before it
// stand Vector, the functions on it, and GPUAES_TARGET.
//
// Bit i of byte b of all blocks is state[8b + i]. Which block has which bit of a vector does not matter, as
// long as each comes back to where it was.

using Word = Vector;
#define GPUAES_CIRCUIT GPUAES_TARGET
#include "cipher/kuznyechik/circuit_body.hpp"
#undef GPUAES_CIRCUIT
#include "cipher/transpose_body.hpp"

inline constexpr std::size_t vector_blocks = sizeof(Vector) / sizeof(Block);
inline constexpr std::size_t sliced_blocks = 8 * sizeof(Vector);  // as many as a vector has bits

// Of each byte of x[k], bit i + distance changes places with bit i of x[k + distance].
template <unsigned distance>
GPUAES_TARGET inline void swap_bits(Vector x[8], Vector lower) {
  for (unsigned k = 0; k < 8; ++k) {
    if (k & distance) continue;
    const Vector different = logic<0x28>(shift_right<distance>(x[k]), x[k + distance], lower);  // (a ^ b) & c
    x[k + distance] = x[k + distance] ^ different;
    x[k] = x[k] ^ shift_left<distance>(different);
  }
}

// Bit i of each byte of x[k] becomes bit k of that of x[i].
GPUAES_TARGET inline void transpose_bits(Vector x[8]) {
  swap_bits<4>(x, fill(0x0f));
  swap_bits<2>(x, fill(0x33));
  swap_bits<1>(x, fill(0x55));
}

// 16 vectors of blocks at a time: byte b of these is state[8b + k] at first.
GPUAES_TARGET inline void slice(const Block* blocks, Vector* state) {
  for (unsigned k = 0; k < 8; ++k) {
    Vector rows[16];
    for (unsigned i = 0; i < 16; ++i) rows[i] = load(blocks + (16 * k + i) * vector_blocks);
    transpose(rows);
    for (unsigned b = 0; b < 16; ++b) state[8 * b + k] = rows[b];
  }
  for (unsigned b = 0; b < 16; ++b) {
    transpose_bits(state + 8 * b);
    to_circuit_basis(state + 8 * b);
  }
}

GPUAES_TARGET inline void unslice(Vector* state, Block* blocks) {
  for (unsigned b = 0; b < 16; ++b) {
    from_circuit_basis(state + 8 * b);
    transpose_bits(state + 8 * b);
  }
  for (unsigned k = 0; k < 8; ++k) {
    Vector rows[16];
    for (unsigned b = 0; b < 16; ++b) rows[b] = state[8 * b + k];
    transpose(rows);
    for (unsigned i = 0; i < 16; ++i) store(blocks + (16 * k + i) * vector_blocks, rows[i]);
  }
}

GPUAES_TARGET inline void add_key(Vector x[8], const std::uint32_t* key) {
  for (unsigned i = 0; i < 8; ++i) x[i] = x[i] ^ repeat(key[i]);
}

// L of the bytes 16 to 31, to 0 to 15: each step puts its byte in front of the others. mix(), which has 16
// steps one behind the other, is more code than a CPU keeps decoded.
GPUAES_TARGET inline void mix_down(Vector (&state)[2 * block_bits]) {
  for (Vector* front = state + block_bits; front != state; front -= 8) {
    // Nothing of a turn is kept for the next one, which GCC would do by moving it all from place to place.
    asm volatile("" : "+r"(front) : : "memory");
    Vector sum[8];
    for (unsigned i = 0; i < 8; ++i) sum[i] = front[8 * 15 + i];
    mix_step<15>(front, sum);
    for (unsigned i = 0; i < 8; ++i) front[static_cast<int>(i) - 8] = sum[i];
  }
}

GPUAES_TARGET void encrypt(const VectorKeys& keys, Block* blocks) {
  Vector state[2 * block_bits];
  slice(blocks, state);
  const std::uint32_t* key = keys.slices.words;
  for (unsigned round = 0; round < rounds; ++round) {
    for (unsigned b = 0; b < 16; ++b, key += 8) {
      Vector* const x = state + 8 * b;
      Vector* const y = x + block_bits;
      for (unsigned i = 0; i < 8; ++i) y[i] = x[i];
      add_key(y, key);
      substitute(y);
    }
    mix_down(state);
  }
  for (unsigned b = 0; b < 16; ++b, key += 8) add_key(state + 8 * b, key);
  unslice(state, blocks);
  for (Vector& each : state) each = Vector{};
  asm volatile("" : : "r"(state) : "memory");  // the zeros are written, though nobody reads them
}
