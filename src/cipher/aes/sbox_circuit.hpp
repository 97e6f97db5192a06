// The S-box of AES (FIPS 197, section 5.1.1) as a circuit for bitsliced code, without tables or branches.
//
// It is derived from the circuit of Boyar and Peralta ("A new combinational logic minimization technique with
// applications to cryptology", 2010), which has 115 gates with two inputs. A mapper merged the gates into
// functions of three bits, which GPUs compute with one instruction each (LOP3). A search then kept replacing
// nodes by others with the same effect on the outputs, as long as their number did not grow. 67 functions
// remain. A test compares all 256 values with the table.
#pragma once

#include <cstdint>

#include "cipher/host_device.hpp"

namespace gpuaes::aes {

// a ^ (b & mask)
GPUAES_HD inline std::uint32_t add_masked(std::uint32_t a, std::uint32_t b, std::uint32_t mask) {
  return logic<0x78>(a, b, mask);
}

inline constexpr int substitute_logic = 67;  // functions in substitute()

// x[i] holds bit i of 32 bytes, before and after.
GPUAES_HD inline void substitute(std::uint32_t x[8]) {
  const std::uint32_t t0 = logic<0xc3>(x[2], x[7], x[7]);
  const std::uint32_t t1 = logic<0x5a>(x[2], x[4], x[4]);
  const std::uint32_t t2 = logic<0xa5>(t1, t0, t0);
  const std::uint32_t t3 = logic<0x69>(x[0], x[5], x[6]);
  const std::uint32_t t4 = logic<0x69>(x[1], t2, x[3]);
  const std::uint32_t t5 = logic<0x3c>(t4, x[0], x[0]);
  const std::uint32_t t6 = logic<0xa5>(t5, t3, t3);
  const std::uint32_t t7 = logic<0x96>(x[2], x[5], t2);
  const std::uint32_t t8 = logic<0x3c>(t7, t6, t6);
  const std::uint32_t t9 = logic<0x0c>(t8, t2, t2);
  const std::uint32_t t10 = logic<0x78>(t9, t7, t1);
  const std::uint32_t t11 = logic<0x3c>(t4, t7, t7);
  const std::uint32_t t12 = logic<0xa3>(t11, x[1], x[7]);
  const std::uint32_t t13 = logic<0x5a>(t12, t10, t10);
  const std::uint32_t t14 = logic<0x39>(x[1], t13, t3);
  const std::uint32_t t15 = logic<0x96>(x[1], t0, t3);
  const std::uint32_t t16 = logic<0x69>(t3, t15, x[4]);
  const std::uint32_t t17 = logic<0x65>(t16, t4, t8);
  const std::uint32_t t18 = logic<0x36>(t6, t9, t0);
  const std::uint32_t t19 = logic<0x3c>(t15, t16, t16);
  const std::uint32_t t20 = logic<0x36>(x[0], x[6], t19);
  const std::uint32_t t21 = logic<0x96>(t20, t17, t18);
  const std::uint32_t t22 = logic<0xdb>(t3, t11, x[7]);
  const std::uint32_t t23 = logic<0x69>(t22, t12, t18);
  const std::uint32_t t24 = logic<0xb4>(t23, t21, t14);
  const std::uint32_t t25 = logic<0xb4>(t2, t15, t5);
  const std::uint32_t t26 = logic<0x69>(t10, t17, t25);
  const std::uint32_t t27 = logic<0x3e>(t24, t21, t14);
  const std::uint32_t t28 = logic<0xd2>(t27, t26, t14);
  const std::uint32_t t29 = logic<0x2d>(t14, t28, t24);
  const std::uint32_t t30 = logic<0x4d>(t26, t24, t21);
  const std::uint32_t t31 = logic<0x3c>(t30, t29, t29);
  const std::uint32_t t32 = logic<0x2c>(t21, t26, t28);
  const std::uint32_t t33 = logic<0x5a>(t27, t32, t32);
  const std::uint32_t t34 = logic<0x48>(t31, t1, t33);
  const std::uint32_t t35 = logic<0xb4>(t34, t2, t31);
  const std::uint32_t t36 = logic<0x28>(t29, t28, t16);
  const std::uint32_t t37 = logic<0xc6>(t28, t36, t15);
  const std::uint32_t t38 = logic<0x96>(t28, t30, t33);
  const std::uint32_t t39 = logic<0x12>(t38, t3, t30);
  const std::uint32_t t40 = logic<0x96>(t39, t35, t37);
  const std::uint32_t t41 = logic<0xe1>(t40, t5, t28);
  const std::uint32_t t42 = logic<0xb4>(t41, x[0], t29);
  const std::uint32_t t43 = logic<0x60>(t30, t3, t11);
  const std::uint32_t t44 = logic<0x3c>(t43, t42, t42);
  const std::uint32_t t45 = logic<0x48>(t33, t7, t31);
  const std::uint32_t t46 = logic<0xc9>(t6, t45, t33);
  const std::uint32_t t47 = logic<0x96>(t35, t46, t39);
  const std::uint32_t t48 = logic<0x9f>(t38, x[1], x[7]);
  const std::uint32_t t49 = logic<0x28>(t30, t38, x[1]);
  const std::uint32_t t50 = logic<0x96>(t43, t39, t49);
  const std::uint32_t t51 = logic<0x96>(t47, t50, t48);
  const std::uint32_t t52 = logic<0x0a>(t11, t38, t38);
  const std::uint32_t t53 = logic<0xe1>(t45, t8, t31);
  const std::uint32_t t54 = logic<0x96>(t40, t53, t52);
  const std::uint32_t t55 = logic<0x69>(t40, t54, t39);
  const std::uint32_t t56 = logic<0x12>(t29, t4, t28);
  const std::uint32_t t57 = logic<0x96>(t41, t52, t56);
  const std::uint32_t t58 = logic<0x5a>(t57, t55, t55);
  const std::uint32_t t59 = logic<0x69>(t42, t48, t57);
  const std::uint32_t t60 = logic<0x69>(t35, t50, t59);
  const std::uint32_t t61 = logic<0xd7>(t19, t2, t30);
  const std::uint32_t t62 = logic<0x69>(t61, t59, t47);
  const std::uint32_t t63 = logic<0xc9>(t33, t34, t0);
  const std::uint32_t t64 = logic<0x96>(t63, t62, t55);
  const std::uint32_t t65 = logic<0x69>(t37, t36, t62);
  const std::uint32_t t66 = logic<0x39>(t29, t65, t19);
  x[7] = t54;
  x[6] = t58;
  x[5] = t64;
  x[4] = t57;
  x[3] = t44;
  x[2] = t66;
  x[1] = t51;
  x[0] = t60;
}

// SubBytes of the four bytes of a word, which serve as slices.
GPUAES_HD inline std::uint32_t substitute_word(std::uint32_t word) {
  std::uint32_t x[8], result = 0;
  for (int i = 0; i < 8; ++i) x[i] = word >> i;
  substitute(x);
  for (int i = 0; i < 8; ++i) result |= (x[i] & 0x01010101) << i;
  return result;
}

}  // namespace gpuaes::aes
