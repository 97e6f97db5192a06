// Kuznyechik with tables of 16 entries. shuffle_simd.cpp includes this file once for each instruction set, in
// the set's namespace (vectors.hpp) and with the set's attribute as GPUAES_TARGET, because an attribute
// cannot be a template parameter. GPUAES_HAS_MATRICES is defined if the set has multiply_by_matrix().
//
// state[i] holds byte i of as many blocks as a vector has bytes.

GPUAES_TARGET inline Vector load_table(const Nibbles& table) {
  return repeat(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table.data())));
}

GPUAES_TARGET inline Vector lower_nibbles(Vector x) {
  return x & fill(0x0f);
}
GPUAES_TARGET inline Vector upper_nibbles(Vector x) {
  return shift_right<4>(x) & fill(0x0f);
}

GPUAES_TARGET inline Vector map(const Linear& linear, Vector x) {
#ifdef GPUAES_HAS_MATRICES
  return multiply_by_matrix(linear.matrix, x);
#else
  return look_up(load_table(linear.lower), lower_nibbles(x)) ^
         look_up(load_table(linear.upper), upper_nibbles(x));
#endif
}

// Vectorized substitute_split().
GPUAES_TARGET inline Vector substitute(Vector x) {
  const Vector v = lower_nibbles(x), fifteen = fill(15);
  const Vector minus_log_u = look_up(load_table(split_s.minus_log_u), upper_nibbles(x));
  const Vector difference = add_bytes(look_up(load_table(split_s.log_v), v), minus_log_u);
  const Vector w =
      look_up(load_table(split_s.ratio), smaller(difference, subtract_bytes(difference, fifteen)));
  const Vector sum = subtract_bytes(look_up(load_table(split_s.shift), w), minus_log_u);
  return look_up(load_table(split_s.offset), w) ^
         look_up(load_table(split_s.power), smaller(sum, add_bytes(sum, fifteen))) ^
         look_up(load_table(split_s.subfield), v | minus_log_u);
}

// One round. R moves no bytes: it writes a new one in front of the 16 bytes of S.
GPUAES_TARGET inline void do_round(Vector (&state)[32], const ShuffleKey& key) {
  for (unsigned i = 0; i < 16; ++i) state[16 + i] = substitute(state[i] ^ load_aligned(key.of[i].data()));
  for (Vector* front = state + 15;; --front) {
    // Keeps GCC from holding values in registers across iterations, for which it would copy the whole state.
    asm volatile("" : "+r"(front) : : "memory");
    Vector sum = front[7] ^ front[9] ^ front[16] ^ map(split_products[6], front[8]);
    for (unsigned k = 6; k-- > 0;) sum = sum ^ map(split_products[k], front[1 + k] ^ front[15 - k]);
    *front = sum;
    if (front == state) break;
  }
}

#include "cipher/kuznyechik/transpose_body.hpp"

// `blocks` has one block for each byte of a vector.
GPUAES_TARGET void encrypt(const SimdKeys& all_keys, Block* blocks) {
  const ShuffleKeys& keys = all_keys.shuffle;
  Vector state[32];
  for (unsigned i = 0; i < 16; ++i) state[i] = map(to_split, load_row(blocks, i));
  transpose(state);
  for (unsigned round = 0; round < rounds; ++round) do_round(state, keys.of[round]);
  for (unsigned i = 0; i < 16; ++i) state[i] = state[i] ^ load_aligned(keys.of[rounds].of[i].data());
  transpose(state);
  for (unsigned i = 0; i < 16; ++i) store_row(blocks, i, map(to_joined, state[i]));
  for (Vector& each : state) each = Vector{};
  asm volatile("" : : "r"(state) : "memory");  // keeps the compiler from removing the wipe
}
