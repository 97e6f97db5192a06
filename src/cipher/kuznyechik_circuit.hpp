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
// more of them; the best of some forty starts for minutes. 78 are left.
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
  const std::uint32_t t0 = add(x[3], x[5], x[7]);
  const std::uint32_t t1 = x[2] ^ x[6];
  const std::uint32_t t2 = t1 ^ x[7];
  const std::uint32_t result[8] = {x[0] ^ x[5], t0, t0 ^ x[6], add(x[2], x[4], x[5]),
                                   t2 ^ x[4],   t1, t1 ^ x[5], add(t2, x[1], x[3])};
  for (int i = 0; i < 8; ++i) x[i] = result[i];
}

GPUAES_HD inline void from_circuit_basis(std::uint32_t x[8]) {
  using gpuaes::add;  // which that of blocks hides
  const std::uint32_t t0 = add(x[2], x[3], x[4]);
  const std::uint32_t t1 = x[5] ^ x[6];
  const std::uint32_t t2 = x[1] ^ x[2];
  const std::uint32_t result[8] = {t1 ^ x[0], add(x[1], x[6], x[7]), t2 ^ x[5], t0, add(t2, x[3], x[6]), t1,
                                   t2,        add(t0, t1, x[1])};
  for (int i = 0; i < 8; ++i) x[i] = result[i];
}

inline constexpr int substitute_logic = 78;  // functions in substitute()

// S, in the circuit's basis.
GPUAES_HD inline void substitute(std::uint32_t x[8]) {
  const std::uint32_t t0 = logic<0xc3>(x[6], x[7], x[7]);
  const std::uint32_t t1 = logic<0x96>(x[4], x[5], t0);
  const std::uint32_t t2 = logic<0x3c>(x[3], x[2], x[2]);
  const std::uint32_t t3 = logic<0xc3>(x[0], x[1], x[1]);
  const std::uint32_t t4 = logic<0xc3>(t0, t1, t1);
  const std::uint32_t t5 = logic<0xe4>(x[6], t4, x[5]);
  const std::uint32_t t6 = logic<0x2a>(t2, x[1], x[0]);
  const std::uint32_t t7 = logic<0x9c>(x[4], t5, t1);
  const std::uint32_t t8 = logic<0xb1>(t5, t7, x[7]);
  const std::uint32_t t9 = logic<0x41>(t5, t1, x[4]);
  const std::uint32_t t10 = logic<0x2d>(t5, t4, t7);
  const std::uint32_t t11 = logic<0x4a>(x[7], t7, t9);
  const std::uint32_t t12 = logic<0x32>(x[5], t9, t0);
  const std::uint32_t t13 = logic<0x20>(t1, x[6], t7);
  const std::uint32_t t14 = logic<0x96>(t11, t10, t12);
  const std::uint32_t t15 = logic<0x60>(x[3], t14, t11);
  const std::uint32_t t16 = logic<0x6c>(t2, t15, t10);
  const std::uint32_t t17 = logic<0xc3>(t2, t3, t3);
  const std::uint32_t t18 = logic<0x6a>(x[2], t12, t15);
  const std::uint32_t t19 = logic<0x85>(t8, x[5], t12);
  const std::uint32_t t20 = logic<0x28>(t19, t14, t17);
  const std::uint32_t t21 = logic<0x06>(t14, x[3], x[1]);
  const std::uint32_t t22 = logic<0x06>(t19, x[2], x[0]);
  const std::uint32_t t23 = logic<0xc0>(x[0], t8, t8);
  const std::uint32_t t24 = logic<0x96>(t22, t21, t18);
  const std::uint32_t t25 = logic<0x96>(t20, t21, t16);
  const std::uint32_t t26 = logic<0x3c>(t18, t23, t23);
  const std::uint32_t t27 = logic<0x09>(t3, t11, t8);
  const std::uint32_t t28 = logic<0x59>(t11, x[1], t23);
  const std::uint32_t t29 = logic<0x3c>(t16, t28, t28);
  const std::uint32_t t30 = logic<0x86>(t2, x[2], t3);
  const std::uint32_t t31 = logic<0x32>(x[2], t6, t3);
  const std::uint32_t t32 = logic<0x63>(t24, t29, t25);
  const std::uint32_t t33 = logic<0xd8>(t29, t24, t25);
  const std::uint32_t t34 = logic<0x74>(t25, t29, t24);
  const std::uint32_t t35 = logic<0x65>(t13, t31, t33);
  const std::uint32_t t36 = logic<0xe5>(t6, x[3], x[1]);
  const std::uint32_t t37 = logic<0x32>(t36, t30, x[1]);
  const std::uint32_t t38 = logic<0x70>(t13, x[3], x[1]);
  const std::uint32_t t39 = logic<0x87>(x[2], t37, t35);
  const std::uint32_t t40 = logic<0x5d>(t39, t38, t34);
  const std::uint32_t t41 = logic<0x9a>(t13, t36, t32);
  const std::uint32_t t42 = logic<0x98>(t32, t33, t34);
  const std::uint32_t t43 = logic<0x96>(t42, t26, t27);
  const std::uint32_t t44 = logic<0x5d>(t37, t13, t43);
  const std::uint32_t t45 = logic<0xc3>(t44, t40, t40);
  const std::uint32_t t46 = logic<0x4b>(t33, t45, t42);
  const std::uint32_t t47 = logic<0xc9>(t24, t34, t46);
  const std::uint32_t t48 = logic<0x21>(t0, t47, x[6]);
  const std::uint32_t t49 = logic<0xc3>(t45, t41, t41);
  const std::uint32_t t50 = logic<0x89>(t49, t33, t46);
  const std::uint32_t t51 = logic<0x06>(t50, x[7], x[5]);
  const std::uint32_t t52 = logic<0xe6>(t6, t47, t50);
  const std::uint32_t t53 = logic<0x0d>(t46, t49, t25);
  const std::uint32_t t54 = logic<0xd9>(t44, t49, t46);
  const std::uint32_t t55 = logic<0x06>(t0, t53, t47);
  const std::uint32_t t56 = logic<0x14>(t50, t54, t1);
  const std::uint32_t t57 = logic<0x96>(t52, t54, t53);
  const std::uint32_t t58 = logic<0x28>(t57, t52, x[4]);
  const std::uint32_t t59 = logic<0x06>(t54, x[6], x[4]);
  const std::uint32_t t60 = logic<0x95>(t52, x[5], t58);
  const std::uint32_t t61 = logic<0xa6>(t4, t57, t58);
  const std::uint32_t t62 = logic<0xa6>(t53, x[6], t60);
  const std::uint32_t t63 = logic<0x69>(t51, t59, t60);
  const std::uint32_t t64 = logic<0x69>(t59, t56, t61);
  const std::uint32_t t65 = logic<0x96>(t61, t55, t48);
  const std::uint32_t t66 = logic<0xc3>(t55, t62, t62);
  const std::uint32_t t67 = logic<0xa2>(t66, t63, t64);
  const std::uint32_t t68 = logic<0x4c>(t65, t63, t64);
  const std::uint32_t t69 = logic<0x9d>(t68, t66, t65);
  const std::uint32_t t70 = logic<0x24>(t65, t63, t64);
  const std::uint32_t t71 = logic<0x39>(t65, t67, t69);
  const std::uint32_t t72 = logic<0x03>(t65, t66, t66);
  const std::uint32_t t73 = logic<0xa9>(t72, t68, t49);
  const std::uint32_t t74 = logic<0x2e>(t69, t66, t70);
  const std::uint32_t t75 = logic<0x96>(t64, t45, t74);
  const std::uint32_t t76 = logic<0xc3>(t71, t45, t45);
  const std::uint32_t t77 = logic<0x9a>(t69, t70, t76);
  x[7] = t35;
  x[6] = t44;
  x[5] = t40;
  x[4] = t41;
  x[3] = t73;
  x[2] = t76;
  x[1] = t75;
  x[0] = t77;
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
  const std::uint32_t t0 = add(a(7, 4), a(0, 6), a(14, 6));
  y[3] = add(y[3], t0, a(8, 3));
  const std::uint32_t t1 = add(t0, a(3, 1), a(11, 1));
  const std::uint32_t t2 = a(14, 5) ^ a(4, 3);
  const std::uint32_t t3 = add(t2, a(0, 5), a(10, 3));
  y[2] = add(y[2], t3, a(14, 1));
  const std::uint32_t t4 = add(t3, a(3, 0), a(11, 0));
  const std::uint32_t t5 = add(t4, a(2, 4), a(12, 4));
  y[4] = add(y[4], t5, a(8, 4));
  y[3] = add(y[3], t5, a(6, 3));
  const std::uint32_t t6 = add(a(7, 7), a(1, 4), a(13, 4));
  const std::uint32_t t7 = add(a(7, 7), a(0, 3), a(14, 3));
  const std::uint32_t t8 = add(t6, a(0, 4), a(14, 4));
  const std::uint32_t t9 = add(t6, t1, a(11, 6));
  const std::uint32_t t10 = add(t9, a(3, 6), a(7, 3));
  const std::uint32_t t11 = add(t7, a(9, 7), a(5, 7));
  y[2] = add(y[2], t11, a(8, 2));
  const std::uint32_t t12 = add(t10, a(5, 3), a(9, 3));
  const std::uint32_t t13 = add(t12, a(13, 1), a(1, 1));
  const std::uint32_t t14 = add(t13, a(11, 3), a(3, 3));
  const std::uint32_t t15 = add(t14, a(0, 0), a(14, 0));
  const std::uint32_t t16 = add(t15, a(13, 0), a(1, 0));
  const std::uint32_t t17 = add(t16, a(11, 7), a(3, 7));
  y[5] = add(y[5], t17, a(8, 5));
  const std::uint32_t t18 = add(t15, a(2, 6), a(12, 6));
  const std::uint32_t t19 = add(t18, a(1, 7), a(13, 7));
  const std::uint32_t t20 = add(t18, a(2, 1), a(12, 1));
  const std::uint32_t t21 = add(t13, t19, t8);
  const std::uint32_t t22 = add(t21, a(2, 5), a(12, 5));
  const std::uint32_t t23 = add(t19, a(0, 7), a(1, 3));
  const std::uint32_t t24 = add(t23, a(14, 7), a(13, 3));
  const std::uint32_t t25 = add(t24, a(11, 4), a(3, 4));
  const std::uint32_t t26 = add(t25, a(5, 0), a(9, 0));
  y[7] = add(y[7], t26, a(8, 7));
  const std::uint32_t t27 = add(t26, a(11, 5), a(1, 6));
  const std::uint32_t t28 = add(t27, a(10, 0), a(13, 6));
  const std::uint32_t t29 = add(t28, a(4, 0), a(3, 5));
  const std::uint32_t t30 = add(t29, t17, a(7, 1));
  const std::uint32_t t31 = add(t30, a(2, 0), a(12, 0));
  y[3] = add(y[3], t31, t20);
  const std::uint32_t t32 = add(t29, a(1, 5), a(4, 7));
  const std::uint32_t t33 = add(t32, a(10, 7), a(13, 5));
  const std::uint32_t t34 = add(t31, a(0, 2), a(14, 2));
  const std::uint32_t t35 = add(t1, t34, t11);
  const std::uint32_t t36 = add(t35, a(2, 2), a(12, 2));
  const std::uint32_t t37 = add(t34, a(9, 1), a(5, 1));
  y[2] = add(y[2], t37, a(6, 2));
  const std::uint32_t t38 = add(t36, t8, a(7, 2));
  const std::uint32_t t39 = add(t38, t7, a(7, 6));
  const std::uint32_t t40 = add(t39, a(10, 5), a(4, 5));
  y[1] = add(y[1], t40, a(8, 1));
  const std::uint32_t t41 = add(t40, a(5, 2), a(9, 2));
  const std::uint32_t t42 = add(a(7, 6), a(10, 2), a(4, 2));
  const std::uint32_t t43 = t42 ^ t33;
  const std::uint32_t t44 = add(t43, t24, t38);
  const std::uint32_t t45 = add(t44, a(13, 2), a(1, 2));
  const std::uint32_t t46 = add(t45, a(9, 5), a(5, 5));
  const std::uint32_t t47 = add(t45, a(10, 1), a(4, 1));
  y[6] = add(y[6], t47, a(8, 6));
  const std::uint32_t t48 = add(t46, t42, t22);
  const std::uint32_t t49 = add(t48, a(5, 6), a(9, 6));
  const std::uint32_t t50 = add(t49, a(2, 7), a(12, 7));
  const std::uint32_t t51 = add(t25, t50, t41);
  const std::uint32_t t52 = add(t51, a(2, 3), a(12, 3));
  const std::uint32_t t53 = add(t52, t20, a(7, 4));
  const std::uint32_t t54 = add(t53, a(10, 6), a(4, 6));
  y[2] = add(y[2], t54, a(0, 1));
  y[0] = add(y[0], t54, a(8, 0));
  const std::uint32_t t55 = add(t54, a(4, 4), a(10, 4));
  y[7] = add(y[7], t55, a(6, 7));
  y[6] = add(y[6], t55, a(6, 6));
  const std::uint32_t t56 = add(t22, a(9, 4), a(5, 4));
  const std::uint32_t t57 = add(t52, t56, t33);
  const std::uint32_t t58 = add(t57, t36, a(7, 0));
  y[5] = add(y[5], t58, a(6, 5));
  const std::uint32_t t59 = add(t50, t58, t47);
  const std::uint32_t t60 = add(t59, t37, t10);
  const std::uint32_t t61 = add(t60, a(3, 2), a(11, 2));
  y[4] = add(y[4], t61, a(6, 4));
  y[1] = add(y[1], t61, a(6, 1));
  const std::uint32_t t62 = add(t41, t56, a(7, 5));
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
