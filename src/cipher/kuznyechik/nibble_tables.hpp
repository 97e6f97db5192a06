// Kuznyechik with tables of 16 entries, which vector instructions look up in a register, so no memory address
// depends on key or data.
//
// The tables of S use the structure of pi that Perrin found ("Partitions in the S-box of Streebog and
// Kuznyechik", 2019). Let F be the field with the polynomial x^8 + x^4 + x^3 + x^2 + 1. The multiples of an
// element by the nonzero elements of the subfield of 16 elements are its coset; pi maps each coset into a
// translate of the subfield. With 1 and b as a basis of F over the subfield, an element is u b + v. If u is
// not 0, its coset is that of b + w with w = v / u, and
//
//     pi(u b + v) = offset(w) + power(log u + shift(w) modulo 15)
//
// If u is 0, pi is a table of v. These tables are computed from pi, and a static_assert proves that they
// yield pi.
//
// Bytes are held as u and v, 4 bits each. This is a linear map of the standard's bytes, so each product with
// a coefficient of L is the sum of a table of v and one of u.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "cipher/kuznyechik/kuznyechik.hpp"

namespace gpuaes::kuznyechik {

using Nibbles = std::array<std::uint8_t, 16>;  // a table of 16 entries

// The product in F.
constexpr std::uint8_t multiply_in_f(std::uint8_t a, std::uint8_t b) {
  unsigned product = 0, shifted = a;
  for (unsigned bit = 0; bit < 8; ++bit) {
    product ^= shifted & (0u - (unsigned{b} >> bit & 1u));
    shifted = shifted << 1 ^ ((shifted >> 7) * 0x11d);
  }
  return static_cast<std::uint8_t>(product);
}

// The powers of a generator of the subfield's multiplicative group: x^17, because x generates that of F.
constexpr std::array<std::uint8_t, 15> make_powers() {
  std::uint8_t generator = 1;
  for (int i = 0; i < 17; ++i) generator = multiply_in_f(generator, 2);
  std::array<std::uint8_t, 15> powers{1};
  for (unsigned i = 1; i < 15; ++i) powers[i] = multiply_in_f(powers[i - 1], generator);
  return powers;
}

// `joined` converts u and v to the standard's byte, and `split` is the inverse. The bits of v are
// coefficients of the powers 0 to 3, and the bits of u those of the same powers times b = x.
constexpr Substitution make_joined() {
  constexpr std::array<std::uint8_t, 15> powers = make_powers();
  Substitution joined{};
  for (unsigned split = 0; split < 256; ++split)
    for (unsigned bit = 0; bit < 4; ++bit) {
      if (split >> bit & 1) joined[split] ^= powers[bit];
      if (split >> bit & 16) joined[split] ^= multiply_in_f(powers[bit], 2);
    }
  return joined;
}
inline constexpr Substitution joined = make_joined();
inline constexpr Substitution split = invert(joined);

// The tables of S, in the order of use. As with _mm_shuffle_epi8(), the entry for an index with bit 7 set is
// 0, and bits 4 to 6 of an index are ignored. Sums wrap at 256. A number is reduced modulo 15 by taking the
// smaller of it and the number minus 15, or plus 15 if it may be negative.
struct SplitS {
  Nibbles log_v;        // 0x80 + log v; for v = 0, keeps bit 7 of the sum set
  Nibbles minus_log_u;  // 0x80 + (-log u modulo 15); for u = 0, bit 7 is clear
  Nibbles ratio;        // w, indexed by log v - log u modulo 15; 0 if u or v is 0
  Nibbles offset;       // split, indexed by w
  Nibbles shift;        // 0x80 + shift(w), indexed by w
  Nibbles power;        // split, indexed by shift(w) + log u modulo 15
  Nibbles subfield;     // indexed by v | minus_log_u; the remaining summand if u is 0
};

constexpr SplitS make_split_s() {
  constexpr std::array<std::uint8_t, 15> powers = make_powers();
  SplitS s{};
  s.log_v[0] = 0x30;
  s.minus_log_u[0] = 0x60;
  for (unsigned i = 0; i < 15; ++i) {
    const std::uint8_t nibble = split[powers[i]];
    s.log_v[nibble] = static_cast<std::uint8_t>(0x80 + i);
    s.minus_log_u[nibble] = static_cast<std::uint8_t>(0x80 + (15 - i) % 15);
    s.ratio[i] = nibble;
  }
  for (unsigned w = 0; w < 16; ++w) {
    const auto b_w = static_cast<std::uint8_t>(2 ^ joined[w]);
    std::uint8_t offset = 0;  // the sum of the 15 values, because the powers add up to 0
    for (const std::uint8_t u : powers) offset ^= pi[multiply_in_f(u, b_w)];
    s.offset[w] = split[offset];
    if (w == 0)
      for (unsigned i = 0; i < 15; ++i) s.power[i] = split[pi[multiply_in_f(powers[i], b_w)] ^ offset];
    for (unsigned i = 0; i < 15; ++i)
      if (s.power[i] == split[pi[b_w] ^ offset]) s.shift[w] = static_cast<std::uint8_t>(0x80 + i);
  }
  for (unsigned v = 0; v < 16; ++v)
    s.subfield[v] = static_cast<std::uint8_t>(split[pi[joined[v]]] ^ s.offset[0] ^ s.power[0]);
  return s;
}
inline constexpr SplitS split_s = make_split_s();

// S of a split byte, computed as with vector instructions.
constexpr std::uint8_t substitute_split(std::uint8_t byte) {
  const auto find = [](const Nibbles& table, unsigned index) -> unsigned {
    return index & 0x80 ? 0u : table[index & 15];
  };
  const auto smaller = [](unsigned a, unsigned b) { return a < b ? a : b; };
  const unsigned v = byte & 15u, u = byte >> 4;
  const unsigned minus_log_u = find(split_s.minus_log_u, u);
  const unsigned difference = (find(split_s.log_v, v) + minus_log_u) & 0xff;
  const unsigned w = find(split_s.ratio, smaller(difference, (difference - 15) & 0xff));
  const unsigned sum = (find(split_s.shift, w) - minus_log_u) & 0xff;
  return static_cast<std::uint8_t>(find(split_s.offset, w) ^
                                   find(split_s.power, smaller(sum, (sum + 15) & 0xff)) ^
                                   find(split_s.subfield, v | minus_log_u));
}

constexpr bool split_s_is_pi() {
  for (unsigned byte = 0; byte < 256; ++byte)
    if (joined[substitute_split(static_cast<std::uint8_t>(byte))] != pi[joined[byte]]) return false;
  return true;
}
static_assert(split_s_is_pi());

// A linear map of bytes, in two forms: the sum of a table of the lower nibble and one of the upper nibble;
// and the bit matrix that GF2P8AFFINEQB takes, where bit 7 - i of the result is the parity of the byte AND
// byte i of the matrix.
struct Linear {
  Nibbles lower, upper;
  std::uint64_t matrix;
};

template <class Map>
constexpr Linear make_linear(Map map) {
  Linear linear{};
  for (unsigned i = 0; i < 16; ++i) {
    linear.lower[i] = map(static_cast<std::uint8_t>(i));
    linear.upper[i] = map(static_cast<std::uint8_t>(i << 4));
  }
  for (unsigned from = 0; from < 8; ++from)
    for (unsigned to = 0; to < 8; ++to)
      if (map(static_cast<std::uint8_t>(1u << from)) >> to & 1)
        linear.matrix |= std::uint64_t{1} << (8 * (7 - to) + from);
  return linear;
}

// The product as the description of GF2P8AFFINEQB defines it.
constexpr std::uint8_t multiply_by_matrix(std::uint64_t matrix, std::uint8_t byte) {
  unsigned result = 0;
  for (unsigned i = 0; i < 8; ++i)
    result |= (static_cast<unsigned>(std::popcount(matrix >> 8 * (7 - i) & byte)) & 1u) << i;
  return static_cast<std::uint8_t>(result);
}

constexpr bool matrix_is_tables(const Linear& linear) {
  for (unsigned byte = 0; byte < 256; ++byte)
    if (multiply_by_matrix(linear.matrix, static_cast<std::uint8_t>(byte)) !=
        (linear.lower[byte & 15] ^ linear.upper[byte >> 4]))
      return false;
  return true;
}

inline constexpr Linear to_split = make_linear([](std::uint8_t byte) { return split[byte]; });
inline constexpr Linear to_joined = make_linear([](std::uint8_t byte) { return joined[byte]; });
static_assert(matrix_is_tables(to_split) && matrix_is_tables(to_joined));

// Products of split bytes with coefficients 0 to 5, which equal coefficients 14 to 9, and with coefficient 7.
// The other coefficients are 1.
inline constexpr unsigned factors = 7;
static_assert(coefficients[6] == 1 && coefficients[8] == 1 && coefficients[15] == 1);
static_assert(coefficients[0] == coefficients[14] && coefficients[1] == coefficients[13] &&
              coefficients[2] == coefficients[12] && coefficients[3] == coefficients[11] &&
              coefficients[4] == coefficients[10] && coefficients[5] == coefficients[9]);

constexpr std::array<Linear, factors> make_split_products() {
  std::array<Linear, factors> made{};
  for (unsigned k = 0; k < factors; ++k)
    made[k] = make_linear([k](std::uint8_t byte) { return split[products[k < 6 ? k : 7][joined[byte]]]; });
  return made;
}
inline constexpr std::array<Linear, factors> split_products = make_split_products();
static_assert(matrix_is_tables(split_products[0]) && matrix_is_tables(split_products[6]));

}  // namespace gpuaes::kuznyechik
