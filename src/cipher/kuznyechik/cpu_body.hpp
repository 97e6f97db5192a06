// Bitsliced Kuznyechik on the compiler's vector types. cpu.cpp includes this file once for each instruction
// set, in a namespace with the size of its vectors as vector_bytes. GPUAES_TARGET is the set's attribute,
// which cannot be a template parameter. GPUAES_TERNARY is defined if the set has an instruction for any
// function of three bits.
//
// state[8b + i] holds bit i of byte b of all blocks. Which bit of a vector belongs to which block does not
// matter, as long as each block returns to its place.

using Vector [[gnu::vector_size(vector_bytes)]] = std::uint32_t;
using Bytes [[gnu::vector_size(vector_bytes)]] = std::uint8_t;

constexpr std::size_t vector_blocks = vector_bytes / sizeof(Block);
constexpr std::size_t batch_blocks = 8 * vector_bytes;  // one per bit of a vector

GPUAES_TARGET inline Vector load(const Block* blocks) {
  Vector x;
  std::memcpy(&x, blocks, sizeof x);
  return x;
}
GPUAES_TARGET inline void store(Block* blocks, Vector x) {
  std::memcpy(blocks, &x, sizeof x);
}

template <unsigned table>
GPUAES_TARGET inline Vector logic(Vector a, Vector b, Vector c) {
#ifdef GPUAES_TERNARY
  return reinterpret_cast<Vector>(GPUAES_TERNARY(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b),
                                                 reinterpret_cast<__m512i>(c), table));
#else
  constexpr Recipe recipe = recipes[table];
  if constexpr (table == table_a)
    return a;
  else if constexpr (table == table_b)
    return b;
  else if constexpr (table == table_c)
    return c;
  else if constexpr (table == table_ones)
    return ~Vector{};
  else {
    const Vector left = logic<recipe.left>(a, b, c), right = logic<recipe.right>(a, b, c);
    if constexpr (recipe.gate == Gate::both) return left & right;
    if constexpr (recipe.gate == Gate::either) return left | right;
    if constexpr (recipe.gate == Gate::sum) return left ^ right;
    if constexpr (recipe.gate == Gate::only_right) return ~left & right;
  }
#endif
}

GPUAES_TARGET inline Vector add(Vector a, Vector b, Vector c) {
  return logic<0x96>(a, b, c);
}

using Word = Vector;
#define GPUAES_CIRCUIT GPUAES_TARGET
#include "cipher/kuznyechik/circuit_body.hpp"
#undef GPUAES_CIRCUIT

// Interleaves the bytes of a and b: of the lower or the upper half of each 16 bytes.
enum Half : int { lower = 0, upper = 8 };
template <Half half, int... i>
GPUAES_TARGET inline Vector interleave(Vector a, Vector b, std::integer_sequence<int, i...>) {
  constexpr auto from = [](int to) {
    return to / 16 * 16 + half + to % 16 / 2 + to % 2 * static_cast<int>(vector_bytes);
  };
#ifdef __clang__
  return reinterpret_cast<Vector>(
      __builtin_shufflevector(reinterpret_cast<Bytes>(a), reinterpret_cast<Bytes>(b), from(i)...));
#else
  return reinterpret_cast<Vector>(
      __builtin_shuffle(reinterpret_cast<Bytes>(a), reinterpret_cast<Bytes>(b), Bytes{from(i)...}));
#endif
}

// Transposes 16 x 16 bytes, separately in each 128-bit part of 16 vectors, by four perfect shuffles.
GPUAES_TARGET inline void transpose(Vector* rows) {
  constexpr std::make_integer_sequence<int, vector_bytes> all{};
  for (int step = 0; step < 4; ++step) {
    Vector shuffled[16];
    for (unsigned i = 0; i < 8; ++i) {
      shuffled[2 * i] = interleave<lower>(rows[i], rows[i + 8], all);
      shuffled[2 * i + 1] = interleave<upper>(rows[i], rows[i + 8], all);
    }
    for (unsigned i = 0; i < 16; ++i) rows[i] = shuffled[i];
  }
}

// Swaps bit i + distance of each byte of x[k] with bit i of x[k + distance].
template <unsigned distance>
GPUAES_TARGET inline void swap_bits(Vector x[8], std::uint32_t lower_bits) {
  for (unsigned k = 0; k < 8; ++k) {
    if (k & distance) continue;
    const Vector different =
        logic<0x28>(x[k] >> distance, x[k + distance], Vector{} + lower_bits);  // (a ^ b) & c
    x[k + distance] = x[k + distance] ^ different;
    x[k] = x[k] ^ different << distance;
  }
}

// Bit i of each byte of x[k] becomes bit k of the same byte of x[i].
GPUAES_TARGET inline void transpose_bits(Vector x[8]) {
  swap_bits<4>(x, 0x0f0f0f0f);
  swap_bits<2>(x, 0x33333333);
  swap_bits<1>(x, 0x55555555);
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
  for (unsigned i = 0; i < 8; ++i) x[i] = x[i] ^ key[i];
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

GPUAES_TARGET void encrypt(const KeySlices& keys, Block* blocks) {
  Vector state[2 * block_bits];
  slice(blocks, state);
  const std::uint32_t* key = keys.words;
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
