// The S-box of AES (FIPS 197, section 5.1.1) as a circuit, for bitsliced code: no table, no address, no
// branch.
//
// It is the circuit of Boyar and Peralta ("A new combinational logic minimization technique with applications
// to cryptology", 2010; 115 gates of two inputs) turned into functions of three bits, each of which a GPU
// does with one instruction (LOP3): the gates merged by a mapper, and then nodes replaced by others that have
// the same outputs as their effect, over and over, as long as that made no more of them. 71 are left. The
// test compares all 256 values with the table.
#pragma once

#include <cstdint>

#include "cipher/host_device.hpp"

namespace gpuaes::aes {

// A function of three bits, on 32 of each. Bit 4a + 2b + c of `table` is its value.
template <unsigned table>
GPUAES_HD inline std::uint32_t logic(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
#ifdef __CUDA_ARCH__
  std::uint32_t result;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(table));
  return result;
#else
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 8; ++i)
    if (table >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
#endif
}

GPUAES_HD inline std::uint32_t add(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return logic<0x96>(a, b, c);
}

// a + (b where mask has ones)
GPUAES_HD inline std::uint32_t add_masked(std::uint32_t a, std::uint32_t b, std::uint32_t mask) {
  return logic<0x78>(a, b, mask);
}

// Bit i of 32 bytes is in x[i], before and after.
GPUAES_HD inline void substitute(std::uint32_t x[8]) {
  const std::uint32_t t0 = logic<0x3c>(x[7], x[2], x[2]);
  const std::uint32_t t1 = logic<0x69>(x[6], x[0], x[5]);
  const std::uint32_t t2 = logic<0x3c>(t1, x[1], x[1]);
  const std::uint32_t t3 = logic<0x96>(t2, x[7], t1);
  const std::uint32_t t4 = logic<0x96>(t3, x[4], x[1]);
  const std::uint32_t t5 = logic<0x5a>(t4, t0, t0);
  const std::uint32_t t6 = logic<0x5a>(t3, t5, t5);
  const std::uint32_t t7 = logic<0x69>(t6, x[2], x[3]);
  const std::uint32_t t8 = logic<0xc3>(t7, x[0], x[0]);
  const std::uint32_t t9 = logic<0x3c>(t1, t8, t8);
  const std::uint32_t t10 = logic<0x82>(t1, x[4], x[0]);
  const std::uint32_t t11 = logic<0x69>(x[3], t6, x[6]);
  const std::uint32_t t12 = logic<0xc0>(t4, t11, t11);
  const std::uint32_t t13 = logic<0x0c>(t7, t6, t6);
  const std::uint32_t t14 = logic<0x69>(t10, t13, t12);
  const std::uint32_t t15 = logic<0xb4>(t14, t9, t0);
  const std::uint32_t t16 = logic<0x96>(t5, t0, t11);
  const std::uint32_t t17 = logic<0x60>(t5, t16, t9);
  const std::uint32_t t18 = logic<0x82>(t2, t0, t8);
  const std::uint32_t t19 = logic<0x96>(t11, t13, t18);
  const std::uint32_t t20 = logic<0x96>(t12, t17, t19);
  const std::uint32_t t21 = logic<0x4b>(t12, t0, t9);
  const std::uint32_t t22 = logic<0x96>(t1, x[0], t16);
  const std::uint32_t t23 = logic<0x56>(t3, t22, x[1]);
  const std::uint32_t t24 = logic<0x81>(t22, t1, x[7]);
  const std::uint32_t t25 = logic<0x69>(t24, t21, t23);
  const std::uint32_t t26 = logic<0x2d>(t15, t25, t20);
  const std::uint32_t t27 = logic<0x65>(t2, x[1], t23);
  const std::uint32_t t28 = logic<0x96>(t12, t27, t17);
  const std::uint32_t t29 = logic<0xe8>(t25, t28, t26);
  const std::uint32_t t30 = logic<0x70>(t25, t28, t20);
  const std::uint32_t t31 = logic<0x0d>(t30, t29, t28);
  const std::uint32_t t32 = logic<0x21>(t2, t31, t0);
  const std::uint32_t t33 = logic<0x90>(t6, t29, t31);
  const std::uint32_t t34 = logic<0x0b>(t15, t30, t20);
  const std::uint32_t t35 = logic<0x1e>(t34, t20, t28);
  const std::uint32_t t36 = logic<0x30>(t35, t1, t1);
  const std::uint32_t t37 = logic<0x5a>(t31, t35, t35);
  const std::uint32_t t38 = logic<0x93>(t26, t20, t35);
  const std::uint32_t t39 = logic<0xc3>(t29, t38, t38);
  const std::uint32_t t40 = logic<0x5a>(t39, t37, t37);
  const std::uint32_t t41 = logic<0xa0>(t5, t40, t40);
  const std::uint32_t t42 = logic<0x9c>(t4, t41, t39);
  const std::uint32_t t43 = logic<0xc3>(t42, t36, t36);
  const std::uint32_t t44 = logic<0x69>(t32, t33, t43);
  const std::uint32_t t45 = logic<0x60>(t22, t35, t38);
  const std::uint32_t t46 = logic<0x84>(t7, t40, t22);
  const std::uint32_t t47 = logic<0xe1>(t46, t16, t39);
  const std::uint32_t t48 = logic<0x69>(t45, t36, t47);
  const std::uint32_t t49 = logic<0x69>(t48, t44, t36);
  const std::uint32_t t50 = logic<0x9c>(t8, t44, t31);
  const std::uint32_t t51 = logic<0x41>(t31, t29, t7);
  const std::uint32_t t52 = logic<0x96>(t51, t45, t50);
  const std::uint32_t t53 = logic<0x90>(t38, x[0], t16);
  const std::uint32_t t54 = logic<0xb4>(t53, t35, t2);
  const std::uint32_t t55 = logic<0x60>(t3, t35, t38);
  const std::uint32_t t56 = logic<0x95>(x[0], t29, t55);
  const std::uint32_t t57 = logic<0x96>(t56, t51, t45);
  const std::uint32_t t58 = logic<0x96>(t54, t57, t42);
  const std::uint32_t t59 = logic<0xe1>(t46, t9, t37);
  const std::uint32_t t60 = logic<0xa5>(t43, t59, t59);
  const std::uint32_t t61 = logic<0x69>(t55, t54, t60);
  const std::uint32_t t62 = logic<0x5a>(t52, t48, t48);
  const std::uint32_t t63 = logic<0x84>(t3, t38, t2);
  const std::uint32_t t64 = logic<0x69>(t63, t57, t60);
  const std::uint32_t t65 = logic<0x90>(t29, t1, x[4]);
  const std::uint32_t t66 = logic<0x96>(t65, t32, t64);
  const std::uint32_t t67 = logic<0xb4>(t41, t0, t37);
  const std::uint32_t t68 = logic<0x96>(t67, t48, t64);
  const std::uint32_t t69 = logic<0x87>(t53, t29, x[0]);
  const std::uint32_t t70 = logic<0xa5>(t69, t50, t50);
  x[7] = t49;
  x[6] = t62;
  x[5] = t68;
  x[4] = t52;
  x[3] = t70;
  x[2] = t66;
  x[1] = t61;
  x[0] = t58;
}

// SubBytes of the four bytes of a word, which are the slices.
GPUAES_HD inline std::uint32_t substitute_word(std::uint32_t word) {
  std::uint32_t x[8], result = 0;
  for (int i = 0; i < 8; ++i) x[i] = word >> i;
  substitute(x);
  for (int i = 0; i < 8; ++i) result |= (x[i] & 0x01010101) << i;
  return result;
}

}  // namespace gpuaes::aes
