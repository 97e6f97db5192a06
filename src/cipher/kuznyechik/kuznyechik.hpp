// The tables and the key expansion of Kuznyechik, the block cipher of GOST R 34.12-2015 with 128-bit blocks
// (RFC 7801). Key expansion makes no secret-dependent memory accesses or branches.
//
// The bytes of a block are in memory order: byte 0 is the standard's a_15, the leftmost one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cipher/host_device.hpp"

namespace gpuaes::kuznyechik {

using Block = std::array<std::uint8_t, 16>;
using Substitution = std::array<std::uint8_t, 256>;

inline constexpr std::size_t key_bytes = 32;
inline constexpr int rounds = 9;  // of X, S and L, followed by addition of the tenth round key

// RFC 7801, section 4.1.1.
inline constexpr Substitution pi{
    252, 238, 221, 17,  207, 110, 49,  22,  251, 196, 250, 218, 35,  197, 4,   77,  233, 119, 240, 219,
    147, 46,  153, 186, 23,  54,  241, 187, 20,  205, 95,  193, 249, 24,  101, 90,  226, 92,  239, 33,
    129, 28,  60,  66,  139, 1,   142, 79,  5,   132, 2,   174, 227, 106, 143, 160, 6,   11,  237, 152,
    127, 212, 211, 31,  235, 52,  44,  81,  234, 200, 72,  171, 242, 42,  104, 162, 253, 58,  206, 204,
    181, 112, 14,  86,  8,   12,  118, 18,  191, 114, 19,  71,  156, 183, 93,  135, 21,  161, 150, 41,
    16,  123, 154, 199, 243, 145, 120, 111, 157, 158, 178, 177, 50,  117, 25,  61,  255, 53,  138, 126,
    109, 84,  198, 128, 195, 189, 13,  87,  223, 245, 36,  169, 62,  168, 67,  201, 215, 121, 214, 246,
    124, 34,  185, 3,   224, 15,  236, 222, 122, 148, 176, 188, 220, 232, 40,  80,  78,  51,  10,  74,
    167, 151, 96,  115, 30,  0,   98,  68,  26,  184, 56,  130, 100, 159, 38,  65,  173, 69,  70,  146,
    39,  94,  85,  47,  140, 163, 165, 125, 105, 213, 149, 59,  7,   88,  179, 64,  134, 172, 29,  247,
    48,  55,  107, 228, 136, 217, 231, 137, 225, 27,  131, 73,  76,  63,  248, 254, 141, 83,  170, 144,
    202, 216, 133, 97,  32,  113, 103, 164, 45,  43,  9,   91,  203, 155, 37,  208, 190, 229, 108, 82,
    89,  166, 116, 210, 230, 244, 180, 192, 209, 102, 175, 194, 57,  75,  99,  182};

constexpr Substitution invert(const Substitution& substitution) {
  Substitution inverse{};
  for (unsigned i = 0; i < 256; ++i) inverse[substitution[i]] = static_cast<std::uint8_t>(i);
  return inverse;
}

// The product in GF(2)[x] / (x^8 + x^7 + x^6 + x + 1) (section 4.1.2). No branch depends on a factor.
GPUAES_HD constexpr std::uint8_t multiply(std::uint8_t a, std::uint8_t b) {
  unsigned product = 0, shifted = a;
  for (unsigned bit = 0; bit < 8; ++bit) {
    product ^= shifted & (0u - (unsigned{b} >> bit & 1u));
    shifted = shifted << 1 ^ ((shifted >> 7) * 0x1c3);
  }
  return static_cast<std::uint8_t>(product);
}

// The coefficients of the linear function l for bytes 0 to 15 (section 4.1.2).
inline constexpr Block coefficients{148, 32, 133, 16, 194, 192, 1, 251, 1, 192, 194, 16, 133, 32, 148, 1};

// products[k][b] is coefficient k times b.
constexpr std::array<Substitution, 16> make_products() {
  std::array<Substitution, 16> products{};
  for (unsigned k = 0; k < 16; ++k)
    for (unsigned b = 0; b < 256; ++b)
      products[k][b] = multiply(coefficients[k], static_cast<std::uint8_t>(b));
  return products;
}
inline constexpr std::array<Substitution, 16> products = make_products();

// The transformations of section 4.2.
constexpr Block add(Block a, const Block& b) {  // X
  for (unsigned i = 0; i < 16; ++i) a[i] ^= b[i];
  return a;
}

constexpr Block shift_in(const Block& block) {  // R
  Block shifted{};
  for (unsigned i = 0; i < 16; ++i) shifted[0] ^= products[i][block[i]];
  for (unsigned i = 1; i < 16; ++i) shifted[i] = block[i - 1];
  return shifted;
}

constexpr Block mix(Block block) {  // L
  for (int i = 0; i < 16; ++i) block = shift_in(block);
  return block;
}

// L S for secret blocks, in key expansion: reads every entry of the table, and multiplies without tables.
constexpr Block mix_secret(const Block& block) {
  std::uint8_t ring[32] = {};  // R moves no bytes: it writes a new one in front
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned entry = 0; entry < 256; ++entry) {
      const unsigned is_it = ((entry ^ block[i]) - 1u) >> 8 & 0xffu;
      ring[16 + i] |= static_cast<std::uint8_t>(pi[entry] & is_it);
    }
  for (unsigned front = 16; front-- > 0;)
    for (unsigned i = 0; i < 16; ++i) ring[front] ^= multiply(ring[front + 1 + i], coefficients[i]);
  Block mixed{};
  for (unsigned i = 0; i < 16; ++i) mixed[i] = ring[i];
  return mixed;
}

// As secret as the key; its owner must wipe it.
struct RoundKeys {
  std::array<Block, rounds + 1> of;
};

// The constants C_1 to C_32 of the key schedule (section 4.3).
constexpr std::array<Block, 32> make_constants() {
  std::array<Block, 32> constants{};
  for (unsigned i = 0; i < 32; ++i) {
    constants[i][15] = static_cast<std::uint8_t>(i + 1);
    constants[i] = mix(constants[i]);
  }
  return constants;
}
inline constexpr std::array<Block, 32> constants = make_constants();

// Section 4.3. The key has 32 bytes.
constexpr RoundKeys expand_key(std::span<const std::byte> key) {
  RoundKeys keys{};
  for (unsigned i = 0; i < key_bytes; ++i) keys.of[i / 16][i % 16] = std::to_integer<std::uint8_t>(key[i]);
  for (unsigned pair = 2; pair <= rounds; pair += 2) {
    Block& left = keys.of[pair];
    Block& right = keys.of[pair + 1];
    left = keys.of[pair - 2];
    right = keys.of[pair - 1];
    for (unsigned i = 0; i < 8; ++i) {  // F
      const Block next = add(mix_secret(add(left, constants[8 * (pair / 2 - 1) + i])), right);
      right = left;
      left = next;
    }
  }
  return keys;
}

}  // namespace gpuaes::kuznyechik
