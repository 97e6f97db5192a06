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
// more of them; for minutes, from hundreds of starts. 80 are left.
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
inline constexpr std::uint8_t basis[8] = {1, 214, 220, 152, 136, 165, 179, 2};

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
  const std::uint32_t t0 = add(x[3], x[6], x[7]);
  const std::uint32_t t1 = x[2] ^ x[6];
  const std::uint32_t result[8] = {
      x[0] ^ x[5], add(x[3], x[5], x[7]), t0 ^ x[5], add(x[2], x[4], x[5]), add(t1, x[4], x[7]), t1,
      t1 ^ x[5],   add(t0, x[1], x[2])};
  for (int i = 0; i < 8; ++i) x[i] = result[i];
}

GPUAES_HD inline void from_circuit_basis(std::uint32_t x[8]) {
  using gpuaes::add;  // which that of blocks hides
  const std::uint32_t t0 = add(x[2], x[3], x[4]);
  const std::uint32_t t1 = x[1] ^ x[2];
  const std::uint32_t t2 = x[5] ^ x[6];
  const std::uint32_t result[8] = {t2 ^ x[0], add(x[1], x[6], x[7]), t1 ^ x[5], t0, add(t1, x[3], x[6]), t2,
                                   t1,        add(t0, t2, x[1])};
  for (int i = 0; i < 8; ++i) x[i] = result[i];
}

inline constexpr int substitute_logic = 80;  // functions in substitute()

// S, in the circuit's basis.
GPUAES_HD inline void substitute(std::uint32_t x[8]) {
  const std::uint32_t t0 = logic<0xc3>(x[6], x[7], x[7]);
  const std::uint32_t t1 = logic<0x96>(t0, x[5], x[4]);
  const std::uint32_t t2 = logic<0xc3>(t1, t0, t0);
  const std::uint32_t t3 = logic<0xd8>(t2, x[6], x[5]);
  const std::uint32_t t4 = logic<0xc3>(x[0], x[1], x[1]);
  const std::uint32_t t5 = logic<0x9c>(x[4], t3, t1);
  const std::uint32_t t6 = logic<0x09>(x[4], t3, t1);
  const std::uint32_t t7 = logic<0x69>(x[2], x[3], t4);
  const std::uint32_t t8 = logic<0x32>(x[5], t6, t0);
  const std::uint32_t t9 = logic<0xb1>(t3, t5, x[7]);
  const std::uint32_t t10 = logic<0x4a>(x[7], t5, t6);
  const std::uint32_t t11 = logic<0x2d>(t3, t2, t5);
  const std::uint32_t t12 = logic<0x96>(t10, t11, t8);
  const std::uint32_t t13 = logic<0xc3>(t7, t4, t4);
  const std::uint32_t t14 = logic<0x48>(t12, x[3], t10);
  const std::uint32_t t15 = logic<0x6c>(t13, t14, t11);
  const std::uint32_t t16 = logic<0x6a>(x[2], t8, t14);
  const std::uint32_t t17 = logic<0xc3>(t8, t9, t9);
  const std::uint32_t t18 = logic<0x43>(x[1], t4, t13);
  const std::uint32_t t19 = logic<0xc0>(x[0], t9, t9);
  const std::uint32_t t20 = logic<0x09>(t4, t10, t9);
  const std::uint32_t t21 = logic<0x58>(t4, t7, x[3]);
  const std::uint32_t t22 = logic<0x0b>(t21, x[0], x[3]);
  const std::uint32_t t23 = logic<0x06>(t17, x[2], x[0]);
  const std::uint32_t t24 = logic<0x28>(t17, t12, t7);
  const std::uint32_t t25 = logic<0x06>(t12, x[3], x[1]);
  const std::uint32_t t26 = logic<0x08>(x[7], t10, t12);
  const std::uint32_t t27 = logic<0x59>(t10, x[1], t19);
  const std::uint32_t t28 = logic<0x3c>(t16, t19, t19);
  const std::uint32_t t29 = logic<0x96>(t23, t25, t16);
  const std::uint32_t t30 = logic<0x96>(t24, t25, t15);
  const std::uint32_t t31 = logic<0x3c>(t27, t15, t15);
  const std::uint32_t t32 = logic<0xe5>(t18, x[3], x[1]);
  const std::uint32_t t33 = logic<0x70>(t26, x[3], x[1]);
  const std::uint32_t t34 = logic<0x32>(t4, t18, x[2]);
  const std::uint32_t t35 = logic<0x63>(t29, t31, t30);
  const std::uint32_t t36 = logic<0xca>(t30, t29, t31);
  const std::uint32_t t37 = logic<0x65>(t26, t34, t36);
  const std::uint32_t t38 = logic<0xa6>(t35, t36, t30);
  const std::uint32_t t39 = logic<0x9a>(t26, t32, t35);
  const std::uint32_t t40 = logic<0x91>(t38, t29, t30);
  const std::uint32_t t41 = logic<0x96>(t40, t28, t20);
  const std::uint32_t t42 = logic<0x5d>(t22, t26, t41);
  const std::uint32_t t43 = logic<0x54>(t42, t4, x[2]);
  const std::uint32_t t44 = logic<0x5d>(t43, t33, t38);
  const std::uint32_t t45 = logic<0x98>(t42, t40, t29);
  const std::uint32_t t46 = logic<0xc3>(t42, t44, t44);
  const std::uint32_t t47 = logic<0xa6>(t40, t46, t37);
  const std::uint32_t t48 = logic<0xa1>(t36, t39, t47);
  const std::uint32_t t49 = logic<0xc3>(t46, t39, t39);
  const std::uint32_t t50 = logic<0xd3>(t49, t47, t30);
  const std::uint32_t t51 = logic<0x15>(t50, t30, t47);
  const std::uint32_t t52 = logic<0x3c>(t50, t51, t51);
  const std::uint32_t t53 = logic<0x14>(t48, t50, t1);
  const std::uint32_t t54 = logic<0x06>(t0, t51, t45);
  const std::uint32_t t55 = logic<0x06>(t50, x[6], x[4]);
  const std::uint32_t t56 = logic<0xc0>(t52, x[4], x[4]);
  const std::uint32_t t57 = logic<0x06>(t48, x[7], x[5]);
  const std::uint32_t t58 = logic<0x3c>(t48, t45, t45);
  const std::uint32_t t59 = logic<0x06>(t2, t58, t52);
  const std::uint32_t t60 = logic<0x95>(t58, x[5], t56);
  const std::uint32_t t61 = logic<0x3c>(t56, t59, t59);
  const std::uint32_t t62 = logic<0xa6>(t51, x[6], t60);
  const std::uint32_t t63 = logic<0x30>(x[7], t45, t45);
  const std::uint32_t t64 = logic<0x69>(t57, t55, t60);
  const std::uint32_t t65 = logic<0x69>(t55, t53, t61);
  const std::uint32_t t66 = logic<0x96>(t61, t54, t63);
  const std::uint32_t t67 = logic<0xc3>(t54, t62, t62);
  const std::uint32_t t68 = logic<0x23>(t67, t66, t64);
  const std::uint32_t t69 = logic<0x0c>(t65, t64, t64);
  const std::uint32_t t70 = logic<0xa9>(t68, t69, t49);
  const std::uint32_t t71 = logic<0xa2>(t67, t64, t65);
  const std::uint32_t t72 = logic<0x0c>(t64, t65, t65);
  const std::uint32_t t73 = logic<0x67>(t71, t67, t68);
  const std::uint32_t t74 = logic<0x8d>(t73, t68, t69);
  const std::uint32_t t75 = logic<0x63>(t73, t71, t66);
  const std::uint32_t t76 = logic<0x6a>(t75, t67, t74);
  const std::uint32_t t77 = logic<0x96>(t65, t46, t74);
  const std::uint32_t t78 = logic<0x56>(t72, t76, t46);
  const std::uint32_t t79 = logic<0xc3>(t46, t75, t75);
  x[7] = t37;
  x[6] = t42;
  x[5] = t44;
  x[4] = t39;
  x[3] = t70;
  x[2] = t79;
  x[1] = t77;
  x[0] = t78;
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
  const std::uint32_t t0 = a(14, 5) ^ a(10, 3);
  const std::uint32_t t1 = add(t0, a(4, 3), a(0, 5));
  y[2] = add(y[2], t1, a(14, 1));
  const std::uint32_t t2 = add(t1, a(3, 0), a(11, 0));
  const std::uint32_t t3 = add(t2, a(2, 4), a(12, 4));
  y[4] = add(y[4], t3, a(8, 4));
  y[3] = add(y[3], t3, a(8, 3));
  const std::uint32_t t4 = add(a(7, 4), a(0, 6), a(14, 6));
  y[3] = add(y[3], t4, a(6, 3));
  const std::uint32_t t5 = add(t4, a(11, 1), a(3, 1));
  const std::uint32_t t6 = add(a(7, 7), a(14, 3), a(0, 3));
  const std::uint32_t t7 = add(a(7, 7), a(1, 4), a(13, 4));
  const std::uint32_t t8 = add(t6, a(9, 7), a(5, 7));
  y[2] = add(y[2], t8, a(8, 2));
  const std::uint32_t t9 = add(t7, a(14, 4), a(0, 4));
  const std::uint32_t t10 = add(t5, t7, a(3, 6));
  const std::uint32_t t11 = add(t10, a(11, 6), a(7, 3));
  const std::uint32_t t12 = add(t11, a(1, 1), a(13, 1));
  const std::uint32_t t13 = add(t12, a(9, 3), a(5, 3));
  const std::uint32_t t14 = add(t13, a(0, 0), a(11, 3));
  const std::uint32_t t15 = add(t14, a(14, 0), a(3, 3));
  const std::uint32_t t16 = add(t15, a(13, 0), a(11, 7));
  const std::uint32_t t17 = add(t16, a(1, 0), a(3, 7));
  y[5] = add(y[5], t17, a(8, 5));
  const std::uint32_t t18 = add(t15, a(2, 6), a(12, 6));
  const std::uint32_t t19 = add(t18, a(13, 7), a(1, 7));
  const std::uint32_t t20 = add(t18, a(2, 1), a(12, 1));
  const std::uint32_t t21 = add(t9, t13, t19);
  const std::uint32_t t22 = add(t21, a(2, 5), a(12, 5));
  const std::uint32_t t23 = add(t19, a(1, 3), a(0, 7));
  const std::uint32_t t24 = add(t23, a(14, 7), a(13, 3));
  const std::uint32_t t25 = add(t24, a(3, 4), a(11, 4));
  const std::uint32_t t26 = add(t25, a(9, 0), a(5, 0));
  y[7] = add(y[7], t26, a(8, 7));
  const std::uint32_t t27 = add(t26, a(13, 6), a(1, 6));
  const std::uint32_t t28 = add(t27, a(4, 0), a(11, 5));
  const std::uint32_t t29 = add(t28, a(10, 0), a(3, 5));
  const std::uint32_t t30 = add(t29, t17, a(12, 0));
  const std::uint32_t t31 = add(t30, a(7, 1), a(2, 0));
  y[3] = add(y[3], t31, t20);
  const std::uint32_t t32 = add(t29, a(10, 7), a(13, 5));
  const std::uint32_t t33 = add(t32, a(1, 5), a(4, 7));
  const std::uint32_t t34 = add(t31, a(14, 2), a(0, 2));
  const std::uint32_t t35 = add(t5, t8, t34);
  const std::uint32_t t36 = add(t35, a(12, 2), a(2, 2));
  const std::uint32_t t37 = add(t34, a(5, 1), a(9, 1));
  y[2] = add(y[2], t37, a(6, 2));
  const std::uint32_t t38 = add(t36, t9, a(7, 2));
  const std::uint32_t t39 = add(t38, t6, a(7, 6));
  const std::uint32_t t40 = add(t39, a(10, 5), a(4, 5));
  y[1] = add(y[1], t40, a(8, 1));
  const std::uint32_t t41 = add(a(7, 6), a(10, 2), a(4, 2));
  const std::uint32_t t42 = t33 ^ t38;
  const std::uint32_t t43 = add(t42, t24, t41);
  const std::uint32_t t44 = add(t43, a(1, 2), a(13, 2));
  const std::uint32_t t45 = add(t40, a(9, 2), a(5, 2));
  const std::uint32_t t46 = add(t44, a(9, 5), a(5, 5));
  const std::uint32_t t47 = add(t41, t46, t22);
  const std::uint32_t t48 = add(t47, a(12, 7), a(5, 6));
  const std::uint32_t t49 = add(t48, a(2, 7), a(9, 6));
  const std::uint32_t t50 = add(t44, a(10, 1), a(4, 1));
  y[6] = add(y[6], t50, a(8, 6));
  const std::uint32_t t51 = add(t25, t45, t49);
  const std::uint32_t t52 = add(t51, a(2, 3), a(12, 3));
  const std::uint32_t t53 = add(t52, t20, a(7, 4));
  const std::uint32_t t54 = add(t53, a(10, 6), a(4, 6));
  y[2] = add(y[2], t54, a(0, 1));
  y[0] = add(y[0], t54, a(8, 0));
  const std::uint32_t t55 = add(t54, a(10, 4), a(4, 4));
  y[7] = add(y[7], t55, a(6, 7));
  y[6] = add(y[6], t55, a(6, 6));
  const std::uint32_t t56 = add(t22, a(9, 4), a(5, 4));
  const std::uint32_t t57 = add(t36, t52, t56);
  const std::uint32_t t58 = add(t57, t33, a(7, 0));
  y[5] = add(y[5], t58, a(6, 5));
  const std::uint32_t t59 = add(t11, t49, t50);
  const std::uint32_t t60 = add(t59, t37, t58);
  const std::uint32_t t61 = add(t60, a(3, 2), a(11, 2));
  y[4] = add(y[4], t61, a(6, 4));
  y[1] = add(y[1], t61, a(6, 1));
  const std::uint32_t t62 = add(t56, t45, a(7, 5));
  y[0] = add(y[0], t62, a(6, 0));
  y[3] = add(y[3], t62, t46);
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
