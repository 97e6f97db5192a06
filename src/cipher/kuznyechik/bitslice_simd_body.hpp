// Bitsliced Kuznyechik. bitslice_simd.cpp includes this file once for each instruction set, in the set's
// namespace (vectors.hpp) and with the set's attribute as GPUAES_TARGET, because an attribute cannot be a
// template parameter.
//
// state[8b + i] holds bit i of byte b of all blocks. Which bit of a vector belongs to which block does not
// matter, as long as each block returns to its place.

using Word = Vector;
#define GPUAES_CIRCUIT GPUAES_TARGET
#include "cipher/kuznyechik/circuit_body.hpp"
#undef GPUAES_CIRCUIT
#include "cipher/kuznyechik/transpose_body.hpp"

constexpr std::size_t vector_blocks = sizeof(Vector) / sizeof(Block);
constexpr std::size_t batch_blocks = 8 * sizeof(Vector);  // one per bit of a vector

// Swaps bit i + distance of each byte of x[k] with bit i of x[k + distance].
template <unsigned distance>
GPUAES_TARGET inline void swap_bits(Vector x[8], Vector lower) {
  for (unsigned k = 0; k < 8; ++k) {
    if (k & distance) continue;
    const Vector different = logic<0x28>(shift_right<distance>(x[k]), x[k + distance], lower);  // (a ^ b) & c
    x[k + distance] = x[k + distance] ^ different;
    x[k] = x[k] ^ shift_left<distance>(different);
  }
}

// Bit i of each byte of x[k] becomes bit k of the same byte of x[i].
GPUAES_TARGET inline void transpose_bits(Vector x[8]) {
  swap_bits<4>(x, fill(0x0f));
  swap_bits<2>(x, fill(0x33));
  swap_bits<1>(x, fill(0x55));
}

// Pass k takes 16 vectors of blocks and puts their byte b in state[8b + k]. Then bits are transposed within
// bytes.
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

// Applies L to bytes 16 to 31 and leaves the result in bytes 0 to 15: each step writes its byte in front of
// the others. This is a loop instead of mix(), because the code of 16 unrolled steps exceeds a CPU's cache of
// decoded instructions.
GPUAES_TARGET inline void mix_down(Vector (&state)[2 * block_bits]) {
  for (Vector* front = state + block_bits; front != state; front -= 8) {
    // Keeps GCC from holding values in registers across iterations, for which it would copy the whole state.
    asm volatile("" : "+r"(front) : : "memory");
    Vector sum[8];
    for (unsigned i = 0; i < 8; ++i) sum[i] = front[8 * 15 + i];
    mix_step<15>(front, sum);
    for (unsigned i = 0; i < 8; ++i) front[static_cast<int>(i) - 8] = sum[i];
  }
}

GPUAES_TARGET void encrypt(const SimdKeys& keys, Block* blocks) {
  Vector state[2 * block_bits];
  slice(blocks, state);
  const std::uint32_t* key = keys.bitslice.words;
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
  asm volatile("" : : "r"(state) : "memory");  // keeps the compiler from removing the wipe
}
