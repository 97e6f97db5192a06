// The S-box of AES (FIPS 197, section 5.1.1) as a circuit, for bitsliced code: no table, no address, no
// branch.
//
// It is the circuit of Boyar and Peralta ("A new combinational logic minimization technique with applications
// to cryptology", 2010; 115 gates of two inputs) turned into functions of three bits, each of which a GPU
// does with one instruction (LOP3): the gates merged by a mapper, and then nodes replaced by others that have
// the same outputs as their effect, over and over, as long as that made no more of them. 68 are left. The
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
  const std::uint32_t t0 = logic<0x5a>(x[4], x[7], x[7]);
  const std::uint32_t t1 = logic<0x96>(x[4], t0, x[1]);
  const std::uint32_t t2 = logic<0x69>(t1, x[3], x[4]);
  const std::uint32_t t3 = logic<0x3c>(x[4], x[2], x[2]);
  const std::uint32_t t4 = logic<0xa5>(t3, t0, t0);
  const std::uint32_t t5 = logic<0x69>(t4, t1, t0);
  const std::uint32_t t6 = logic<0x96>(x[1], t5, x[5]);
  const std::uint32_t t7 = logic<0x5a>(t6, t2, t2);
  const std::uint32_t t8 = logic<0x3c>(x[0], t2, t2);
  const std::uint32_t t9 = logic<0x96>(t7, x[5], x[6]);
  const std::uint32_t t10 = logic<0x5a>(t6, t9, t9);
  const std::uint32_t t11 = logic<0xc3>(t10, t8, t8);
  const std::uint32_t t12 = logic<0xc3>(x[1], t11, t11);
  const std::uint32_t t13 = logic<0xa5>(t4, t12, t12);
  const std::uint32_t t14 = logic<0xc6>(t8, t0, t13);
  const std::uint32_t t15 = logic<0xb4>(t9, t5, t2);
  const std::uint32_t t16 = logic<0x0a>(t9, t0, t0);
  const std::uint32_t t17 = logic<0x6a>(t3, t6, t16);
  const std::uint32_t t18 = logic<0x96>(t15, t17, t14);
  const std::uint32_t t19 = logic<0xc3>(x[4], t11, t11);
  const std::uint32_t t20 = logic<0x1e>(x[6], t19, x[0]);
  const std::uint32_t t21 = logic<0x36>(t4, t16, t10);
  const std::uint32_t t22 = logic<0x69>(t20, t21, t15);
  const std::uint32_t t23 = logic<0x59>(t1, t7, x[1]);
  const std::uint32_t t24 = logic<0xbd>(x[7], t11, t7);
  const std::uint32_t t25 = logic<0x69>(t24, t21, t23);
  const std::uint32_t t26 = logic<0x4a>(t22, t25, t18);
  const std::uint32_t t27 = logic<0x5a>(t23, t17, t17);
  const std::uint32_t t28 = logic<0x56>(x[1], t12, t27);
  const std::uint32_t t29 = logic<0x7a>(t25, t22, t28);
  const std::uint32_t t30 = logic<0x3c>(t29, t26, t26);
  const std::uint32_t t31 = logic<0xc6>(t18, t29, t28);
  const std::uint32_t t32 = logic<0x3c>(t31, t30, t30);
  const std::uint32_t t33 = logic<0x9c>(t22, t25, t28);
  const std::uint32_t t34 = logic<0x2b>(t18, t22, t33);
  const std::uint32_t t35 = logic<0x06>(t7, t32, t34);
  const std::uint32_t t36 = logic<0x50>(t32, t11, t11);
  const std::uint32_t t37 = logic<0x59>(t31, t33, t28);
  const std::uint32_t t38 = logic<0x5a>(t37, t34, t34);
  const std::uint32_t t39 = logic<0x48>(t38, t6, t30);
  const std::uint32_t t40 = logic<0xc9>(t9, t39, t38);
  const std::uint32_t t41 = logic<0x69>(t35, t40, t36);
  const std::uint32_t t42 = logic<0x28>(t37, t31, t5);
  const std::uint32_t t43 = logic<0xc6>(t31, t42, t13);
  const std::uint32_t t44 = logic<0x48>(t38, t3, t30);
  const std::uint32_t t45 = logic<0xc6>(t38, t44, t0);
  const std::uint32_t t46 = logic<0x96>(t45, t43, t36);
  const std::uint32_t t47 = logic<0x69>(t36, t46, t41);
  const std::uint32_t t48 = logic<0xa9>(t30, t10, t39);
  const std::uint32_t t49 = logic<0x96>(t48, t36, t45);
  const std::uint32_t t50 = logic<0x7b>(x[7], t34, t11);
  const std::uint32_t t51 = logic<0x48>(t32, t1, t34);
  const std::uint32_t t52 = logic<0xe1>(t46, t8, t31);
  const std::uint32_t t53 = logic<0x14>(t31, t37, t2);
  const std::uint32_t t54 = logic<0x96>(t52, t35, t53);
  const std::uint32_t t55 = logic<0xb4>(t52, x[0], t37);
  const std::uint32_t t56 = logic<0x96>(t55, t51, t54);
  const std::uint32_t t57 = logic<0x69>(t50, t56, t49);
  const std::uint32_t t58 = logic<0xc9>(t4, t44, t30);
  const std::uint32_t t59 = logic<0x96>(t58, t57, t41);
  const std::uint32_t t60 = logic<0x82>(t9, x[0], t34);
  const std::uint32_t t61 = logic<0x78>(t60, t32, t12);
  const std::uint32_t t62 = logic<0x69>(t61, t49, t51);
  const std::uint32_t t63 = logic<0x3c>(t55, t60, t60);
  const std::uint32_t t64 = logic<0x69>(t45, t61, t56);
  const std::uint32_t t65 = logic<0x3c>(t54, t41, t41);
  const std::uint32_t t66 = logic<0x2d>(t57, t31, t13);
  const std::uint32_t t67 = logic<0x63>(t19, t66, t37);
  x[7] = t47;
  x[6] = t65;
  x[5] = t59;
  x[4] = t54;
  x[3] = t63;
  x[2] = t67;
  x[1] = t62;
  x[0] = t64;
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
