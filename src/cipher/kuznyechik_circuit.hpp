// Kuznyechik's S and L as circuits for bitsliced code: no table, no address, no branch. Every line is a
// function of three bits, which a GPU does with one instruction (LOP3), on 32 bytes or blocks at once.
//
// Bytes are held in another basis than the standard's, linear like the key's addition and L, so only what
// enters and leaves the cipher has to be mapped. The basis is chosen for both circuits.
//
// S has the structure that Biryukov, Perrin and Udovenko found ("Reverse-engineering the S-box of Streebog,
// Kuznyechik and STRIBOBr1", 2016), in the field and with the cosets of Perrin ("Partitions in the S-box of
// Streebog and Kuznyechik", 2019; see kuznyechik_nibbles.hpp): an element of F is u b + v, u and v in the
// subfield of 16 elements; with w = v / u, an inversion and a multiplication there, or v itself where u is 0,
// through a 4-bit function each, one half of the result is r; a function of u h(r), another multiplication,
// is the other half, up to sums of halves. The circuit's basis is one of v and one of u, so that there is no
// linear map in front; both are products of bases over the subfield of 4 elements, which the multiplications
// (9 products each) like. Written down so with random choices of what is free (the scale of each
// intermediate basis, which 4 bits of the result are whose half), mapped to functions of three bits (ABC:
// dch, if -K 3, mfs2), and then walked at random: a node becomes any function of three other nodes, at times
// one of them new, that has the same effect on the outputs, compared over all 256 inputs, if that makes no
// more of them; for minutes, from hundreds of starts. 84 are left.
//
// L is 16 steps R, and a step is a sum of 15 products c_k a_k and a_15. Bit j of a_k counts for the element
// c_k e_j, where e_0 to e_7 is the basis: so words are summed by the elements that they count for, and the
// sum of an element which is not in the basis is added to those of two (or three) elements that sum to it,
// until all is in the basis. What costs is how many elements there are: this basis, one of the kind that S
// wants, leaves 43 outside it, among the fewest of that kind (42 to 56). Which elements they are split into
// was annealed, so that sums of three are seldom short of one. A step has 83.
#pragma once

#include <cstdint>

#include "cipher/host_device.hpp"
#include "cipher/kuznyechik.hpp"
#include "cipher/logic.hpp"

namespace gpuaes::kuznyechik {

// The standard's byte that bit i of a byte of the circuit stands for.
inline constexpr std::uint8_t basis[8] = {1, 214, 152, 68, 136, 165, 179, 2};

constexpr Substitution make_from_circuit() {
  Substitution from{};
  for (unsigned byte = 0; byte < 256; ++byte)
    for (unsigned bit = 0; bit < 8; ++bit)
      if (byte >> bit & 1) from[byte] ^= basis[bit];
  return from;
}
inline constexpr Substitution from_circuit = make_from_circuit();
inline constexpr Substitution to_circuit = invert(from_circuit);

// The same for 32 bytes: bit i of them is in x[i], before and after, here and in substitute().
GPUAES_HD inline void to_circuit_basis(std::uint32_t x[8]) {
  using gpuaes::add;  // which that of blocks hides
  const std::uint32_t t0 = add(x[2], x[6], x[7]);
  const std::uint32_t t1 = add(x[3], x[5], x[7]);
  const std::uint32_t t2 = x[2] ^ x[6];
  const std::uint32_t t3 = t0 ^ x[4];
  const std::uint32_t result[8] = {x[0] ^ x[5], t1, t3 ^ x[3], t1 ^ x[6],
                                   t3,          t2, t2 ^ x[5], add(t0, x[1], x[3])};
  for (int i = 0; i < 8; ++i) x[i] = result[i];
}

GPUAES_HD inline void from_circuit_basis(std::uint32_t x[8]) {
  using gpuaes::add;  // which that of blocks hides
  const std::uint32_t t0 = add(x[1], x[2], x[6]);
  const std::uint32_t t1 = x[1] ^ x[3];
  const std::uint32_t t2 = x[5] ^ x[6];
  const std::uint32_t result[8] = {t2 ^ x[0], add(x[1], x[6], x[7]), t1 ^ x[5], x[2] ^ x[4], t0, t2,
                                   t1,        add(t0, x[4], x[5])};
  for (int i = 0; i < 8; ++i) x[i] = result[i];
}

inline constexpr int substitute_logic = 84;  // functions in substitute()

// S, in the circuit's basis.
GPUAES_HD inline void substitute(std::uint32_t x[8]) {
  const std::uint32_t t0 = logic<0x3c>(x[6], x[7], x[7]);
  const std::uint32_t t1 = logic<0xc3>(x[1], x[3], x[3]);
  const std::uint32_t t2 = logic<0x29>(x[3], t1, x[0]);
  const std::uint32_t t3 = logic<0x37>(x[7], t0, x[5]);
  const std::uint32_t t4 = logic<0xa8>(x[7], x[4], x[5]);
  const std::uint32_t t5 = logic<0x45>(x[4], t0, t4);
  const std::uint32_t t6 = logic<0x96>(t0, x[5], x[4]);
  const std::uint32_t t7 = logic<0xa4>(t3, x[4], x[6]);
  const std::uint32_t t8 = logic<0x2f>(t3, t6, x[7]);
  const std::uint32_t t9 = logic<0x2a>(t8, x[6], t4);
  const std::uint32_t t10 = logic<0x54>(x[5], x[4], t9);
  const std::uint32_t t11 = logic<0xc0>(t10, x[1], x[1]);
  const std::uint32_t t12 = logic<0x01>(t7, x[5], t6);
  const std::uint32_t t13 = logic<0x26>(t12, x[2], x[0]);
  const std::uint32_t t14 = logic<0x3c>(x[3], x[2], x[2]);
  const std::uint32_t t15 = logic<0x3c>(t5, t10, t10);
  const std::uint32_t t16 = logic<0x12>(t10, t1, t7);
  const std::uint32_t t17 = logic<0xa8>(t13, t2, t12);
  const std::uint32_t t18 = logic<0x34>(t1, x[3], t17);
  const std::uint32_t t19 = logic<0x82>(t13, t18, t12);
  const std::uint32_t t20 = logic<0x8b>(t2, t19, x[2]);
  const std::uint32_t t21 = logic<0xa6>(t19, t13, t1);
  const std::uint32_t t22 = logic<0xd6>(t13, t20, x[3]);
  const std::uint32_t t23 = logic<0x82>(t5, t8, t13);
  const std::uint32_t t24 = logic<0x8a>(t22, t4, t12);
  const std::uint32_t t25 = logic<0x0c>(t5, x[0], x[0]);
  const std::uint32_t t26 = logic<0xc3>(t23, t25, t25);
  const std::uint32_t t27 = logic<0x3c>(t7, t8, t8);
  const std::uint32_t t28 = logic<0x95>(t14, t27, t25);
  const std::uint32_t t29 = logic<0x09>(t15, t14, t21);
  const std::uint32_t t30 = logic<0x41>(t27, t15, t21);
  const std::uint32_t t31 = logic<0x6a>(t7, x[3], t29);
  const std::uint32_t t32 = logic<0x87>(t11, x[2], t8);
  const std::uint32_t t33 = logic<0x69>(t29, t11, t16);
  const std::uint32_t t34 = logic<0x3c>(t31, t32, t32);
  const std::uint32_t t35 = logic<0x06>(t24, t31, t28);
  const std::uint32_t t36 = logic<0x3c>(t30, t33, t33);
  const std::uint32_t t37 = logic<0x96>(t29, t30, t26);
  const std::uint32_t t38 = logic<0xe4>(t34, t35, t36);
  const std::uint32_t t39 = logic<0xb4>(t38, t37, t17);
  const std::uint32_t t40 = logic<0x1b>(t37, t34, t36);
  const std::uint32_t t41 = logic<0xc3>(t40, t35, t35);
  const std::uint32_t t42 = logic<0x2d>(t38, t41, t37);
  const std::uint32_t t43 = logic<0x36>(t42, t36, t41);
  const std::uint32_t t44 = logic<0x6a>(t19, t26, t43);
  const std::uint32_t t45 = logic<0x78>(t38, t36, t44);
  const std::uint32_t t46 = logic<0x28>(x[0], t45, t24);
  const std::uint32_t t47 = logic<0x47>(t21, x[2], t46);
  const std::uint32_t t48 = logic<0x27>(t45, t47, t12);
  const std::uint32_t t49 = logic<0xa7>(t42, t40, t44);
  const std::uint32_t t50 = logic<0x3c>(t48, t41, t41);
  const std::uint32_t t51 = logic<0x68>(t43, t41, t50);
  const std::uint32_t t52 = logic<0x71>(t51, t40, t42);
  const std::uint32_t t53 = logic<0x3c>(t51, t39, t39);
  const std::uint32_t t54 = logic<0x3c>(t53, t52, t52);
  const std::uint32_t t55 = logic<0x52>(t50, t54, t34);
  const std::uint32_t t56 = logic<0x14>(t0, t6, t54);
  const std::uint32_t t57 = logic<0x3c>(t53, t55, t55);
  const std::uint32_t t58 = logic<0xb9>(t53, t49, t52);
  const std::uint32_t t59 = logic<0x82>(t58, t57, t6);
  const std::uint32_t t60 = logic<0x2d>(t56, t52, x[5]);
  const std::uint32_t t61 = logic<0x28>(x[7], x[5], t58);
  const std::uint32_t t62 = logic<0x6a>(t53, x[4], t56);
  const std::uint32_t t63 = logic<0x06>(t57, x[6], x[4]);
  const std::uint32_t t64 = logic<0x95>(t49, x[7], t59);
  const std::uint32_t t65 = logic<0x82>(t49, t55, t0);
  const std::uint32_t t66 = logic<0x59>(t55, x[6], t61);
  const std::uint32_t t67 = logic<0x96>(t63, t64, t65);
  const std::uint32_t t68 = logic<0x96>(t67, t64, t66);
  const std::uint32_t t69 = logic<0x96>(t59, t61, t60);
  const std::uint32_t t70 = logic<0x69>(t59, t63, t62);
  const std::uint32_t t71 = logic<0x30>(t69, t68, t68);
  const std::uint32_t t72 = logic<0xdb>(t70, t69, t68);
  const std::uint32_t t73 = logic<0xd8>(t71, t72, t67);
  const std::uint32_t t74 = logic<0xc0>(t72, t69, t69);
  const std::uint32_t t75 = logic<0x8b>(t69, t70, t73);
  const std::uint32_t t76 = logic<0xc3>(t50, t73, t73);
  const std::uint32_t t77 = logic<0x19>(t68, t75, t67);
  const std::uint32_t t78 = logic<0xe8>(t68, t70, t75);
  const std::uint32_t t79 = logic<0x70>(t67, t77, t70);
  const std::uint32_t t80 = logic<0x38>(t78, t79, t69);
  const std::uint32_t t81 = logic<0x69>(t74, t79, t50);
  const std::uint32_t t82 = logic<0x3c>(t77, t50, t50);
  const std::uint32_t t83 = logic<0xc3>(t44, t80, t80);
  x[7] = t39;
  x[6] = t48;
  x[5] = t41;
  x[4] = t44;
  x[3] = t81;
  x[2] = t83;
  x[1] = t76;
  x[0] = t82;
}

// The functions in mix().
inline constexpr int mix_logic = 16 * 83;

// One R of a state that has bit i of byte b, byte 0 the first in memory, in word 8b + i. Nothing is shifted:
// the byte that would go out becomes the new one where it lies, and the next step has its number less by one.
// For `out` from 15 down to 0 that is L, and behind it each byte has its name again.
template <unsigned out>
GPUAES_HD inline void mix_step(std::uint32_t (&s)[128]) {
  using gpuaes::add;  // which that of blocks hides
  std::uint32_t* const y = s + 8 * out;
  const auto a = [&](unsigned byte, unsigned bit) { return s[(byte + out + 1) % 16 * 8 + bit]; };
  const std::uint32_t t0 = add(a(7, 0), a(14, 7), a(13, 2));
  const std::uint32_t t1 = add(t0, a(1, 2), a(0, 7));
  const std::uint32_t t2 = add(a(7, 1), a(2, 0), a(12, 0));
  const std::uint32_t t3 = add(t1, a(1, 1), a(5, 2));
  const std::uint32_t t4 = add(t3, a(13, 1), a(9, 2));
  const std::uint32_t t5 = add(t1, a(2, 2), a(12, 2));
  const std::uint32_t t6 = add(t1, a(9, 7), a(5, 7));
  const std::uint32_t t7 = add(t5, a(9, 0), a(5, 0));
  y[7] = add(y[7], t7, a(8, 7));
  const std::uint32_t t8 = add(t7, a(11, 5), a(1, 6));
  const std::uint32_t t9 = add(t8, a(10, 0), a(3, 5));
  const std::uint32_t t10 = add(t9, a(13, 6), a(4, 0));
  y[3] = add(y[3], t10, a(8, 3));
  const std::uint32_t t11 = add(t10, a(14, 3), a(0, 3));
  y[6] = add(y[6], t11, a(8, 6));
  const std::uint32_t t12 = add(t4, t11, a(7, 7));
  const std::uint32_t t13 = add(t12, a(10, 5), a(4, 5));
  const std::uint32_t t14 = add(t6, a(1, 4), a(13, 4));
  const std::uint32_t t15 = add(t14, a(2, 5), a(12, 5));
  const std::uint32_t t16 = add(t13, a(10, 6), a(4, 6));
  const std::uint32_t t17 = add(t15, a(12, 7), a(5, 6));
  const std::uint32_t t18 = add(t17, a(9, 6), a(2, 7));
  y[2] = add(y[2], t18, a(8, 2));
  const std::uint32_t t19 = add(t15, a(9, 4), a(5, 4));
  y[1] = add(y[1], t19, a(8, 1));
  const std::uint32_t t20 = add(t16, a(0, 6), a(14, 6));
  y[2] = add(y[2], t20, a(6, 2));
  const std::uint32_t t21 = add(t20, a(3, 1), a(11, 1));
  const std::uint32_t t22 = add(t18, a(5, 5), a(9, 5));
  const std::uint32_t t23 = add(t22, a(3, 3), a(11, 3));
  const std::uint32_t t24 = add(t23, t14, a(7, 3));
  const std::uint32_t t25 = add(t23, a(0, 4), a(14, 4));
  const std::uint32_t t26 = add(t24, a(4, 4), a(10, 4));
  y[7] = add(y[7], t26, a(6, 7));
  y[6] = add(y[6], t26, a(6, 6));
  const std::uint32_t t27 = add(t21, a(4, 3), a(10, 3));
  const std::uint32_t t28 = add(t27, a(3, 7), a(1, 0));
  const std::uint32_t t29 = add(t28, a(13, 0), a(11, 7));
  const std::uint32_t t30 = add(t13, t29, t19);
  const std::uint32_t t31 = add(t30, t24, t2);
  const std::uint32_t t32 = add(t31, a(2, 6), a(12, 6));
  const std::uint32_t t33 = add(t32, a(2, 1), a(12, 1));
  const std::uint32_t t34 = add(t29, a(0, 0), a(3, 2));
  const std::uint32_t t35 = add(t34, a(14, 0), a(11, 2));
  y[5] = add(y[5], t35, a(8, 5));
  const std::uint32_t t36 = add(t32, a(13, 7), a(1, 7));
  const std::uint32_t t37 = add(t36, t6, t12);
  const std::uint32_t t38 = add(t37, a(4, 1), a(10, 1));
  const std::uint32_t t39 = add(t2, t38, t35);
  const std::uint32_t t40 = add(t39, a(9, 3), a(5, 3));
  y[6] = add(y[6], t40, t33);
  const std::uint32_t t41 = add(t40, a(5, 1), a(9, 1));
  y[4] = add(y[4], t41, a(8, 4));
  const std::uint32_t t42 = add(a(7, 2), a(3, 6), a(11, 6));
  const std::uint32_t t43 = add(t42, t36, a(7, 6));
  y[5] = add(y[5], t43, a(6, 5));
  const std::uint32_t t44 = add(t43, a(12, 3), a(2, 3));
  const std::uint32_t t45 = add(t16, t44, t4);
  const std::uint32_t t46 = add(t45, t41, a(7, 4));
  y[1] = add(y[1], t46, a(6, 1));
  const std::uint32_t t47 = add(t42, a(0, 5), a(4, 2));
  const std::uint32_t t48 = add(t47, a(14, 5), a(10, 2));
  const std::uint32_t t49 = add(t25, t48, t5);
  const std::uint32_t t50 = add(t49, a(11, 4), a(13, 3));
  const std::uint32_t t51 = add(t50, a(3, 4), a(1, 3));
  const std::uint32_t t52 = t51 ^ a(7, 0);
  const std::uint32_t t53 = add(t52, a(2, 4), a(12, 4));
  const std::uint32_t t54 = add(t53, a(3, 0), a(11, 0));
  y[2] = add(y[2], t54, t25);
  y[4] = add(y[4], t54, a(6, 4));
  const std::uint32_t t55 = add(t33, t21, t51);
  const std::uint32_t t56 = add(t55, a(1, 5), a(13, 5));
  const std::uint32_t t57 = add(t56, a(4, 7), a(10, 7));
  const std::uint32_t t58 = add(t57, t48, t22);
  const std::uint32_t t59 = add(t58, a(0, 2), a(14, 2));
  y[7] = add(y[7], t59, t44);
  const std::uint32_t t60 = add(t46, t38, t57);
  const std::uint32_t t61 = add(t60, a(0, 1), a(14, 1));
  y[3] = add(y[3], t61, a(6, 3));
  const std::uint32_t t62 = add(t27, t59, a(7, 5));
  y[0] = add(y[0], t62, a(8, 0));
  y[2] = add(y[2], t62, t61);
  y[0] ^= a(6, 0);
}

// L.
GPUAES_HD inline void mix(std::uint32_t (&s)[128]) {
  mix_step<15>(s);
  mix_step<14>(s);
  mix_step<13>(s);
  mix_step<12>(s);
  mix_step<11>(s);
  mix_step<10>(s);
  mix_step<9>(s);
  mix_step<8>(s);
  mix_step<7>(s);
  mix_step<6>(s);
  mix_step<5>(s);
  mix_step<4>(s);
  mix_step<3>(s);
  mix_step<2>(s);
  mix_step<1>(s);
  mix_step<0>(s);
}

}  // namespace gpuaes::kuznyechik
