// The circuits that circuit.hpp describes. This file is included once for each type of word, because
// functions of vectors need the attribute of their instruction set, which cannot be a template parameter. The
// including file defines Word, its logic() and add(), and GPUAES_CIRCUIT, which marks the functions.

// Convert from the standard's basis to the circuit's, and back, with one byte in each bit position. Here and
// in substitute(), x[i] holds bit i of the bytes, before and after.
GPUAES_CIRCUIT inline void to_circuit_basis(Word x[8]) {
  const Word t0 = add(x[3], x[5], x[7]);
  const Word t1 = x[2] ^ x[6];
  const Word t2 = t1 ^ x[7];
  const Word result[8] = {x[0] ^ x[5], t0, t0 ^ x[6], add(x[2], x[4], x[5]),
                          t2 ^ x[4],   t1, t1 ^ x[5], add(t2, x[1], x[3])};
  for (int i = 0; i < 8; ++i) x[i] = result[i];
}

GPUAES_CIRCUIT inline void from_circuit_basis(Word x[8]) {
  const Word t0 = add(x[2], x[3], x[4]);
  const Word t1 = x[5] ^ x[6];
  const Word t2 = x[1] ^ x[2];
  const Word result[8] = {t1 ^ x[0], add(x[1], x[6], x[7]), t2 ^ x[5], t0, add(t2, x[3], x[6]), t1,
                          t2,        add(t0, t1, x[1])};
  for (int i = 0; i < 8; ++i) x[i] = result[i];
}

inline constexpr int substitute_logic = 78;  // functions in substitute()

// S, in the circuit's basis.
GPUAES_CIRCUIT inline void substitute(Word x[8]) {
  const Word t0 = logic<0x3c>(x[6], x[7], x[7]);
  const Word t1 = logic<0x96>(x[4], x[5], t0);
  const Word t2 = logic<0xa5>(x[3], x[2], x[2]);
  const Word t3 = logic<0x3c>(x[0], x[1], x[1]);
  const Word t4 = logic<0x3c>(t0, t1, t1);
  const Word t5 = logic<0x4e>(x[6], t4, x[5]);
  const Word t6 = logic<0xa2>(t2, x[1], x[0]);
  const Word t7 = logic<0x6c>(x[4], t5, t1);
  const Word t8 = logic<0x4e>(t5, t7, x[7]);
  const Word t9 = logic<0xbe>(t5, t1, x[4]);
  const Word t10 = logic<0xb4>(t5, t4, t7);
  const Word t11 = logic<0xda>(x[7], t7, t9);
  const Word t12 = logic<0xc4>(x[5], t9, t0);
  const Word t13 = logic<0xfe>(t1, x[6], t7);
  const Word t14 = logic<0x96>(t11, t10, t12);
  const Word t15 = logic<0x60>(x[3], t14, t11);
  const Word t16 = logic<0xc6>(t2, t15, t10);
  const Word t17 = logic<0x3c>(t2, t3, t3);
  const Word t18 = logic<0x6a>(x[2], t12, t15);
  const Word t19 = logic<0x7a>(t8, x[5], t12);
  const Word t20 = logic<0x14>(t19, t14, t17);
  const Word t21 = logic<0x60>(t14, x[3], x[1]);
  const Word t22 = logic<0x60>(t19, x[2], x[0]);
  const Word t23 = logic<0xa0>(x[0], t8, t8);
  const Word t24 = logic<0x96>(t22, t21, t18);
  const Word t25 = logic<0x96>(t20, t21, t16);
  const Word t26 = logic<0x3c>(t18, t23, t23);
  const Word t27 = logic<0x60>(t3, t11, t8);
  const Word t28 = logic<0x6a>(t11, x[1], t23);
  const Word t29 = logic<0x3c>(t16, t28, t28);
  const Word t30 = logic<0x94>(t2, x[2], t3);
  const Word t31 = logic<0xce>(x[2], t6, t3);
  const Word t32 = logic<0x9c>(t24, t29, t25);
  const Word t33 = logic<0x72>(t29, t24, t25);
  const Word t34 = logic<0x2e>(t25, t29, t24);
  const Word t35 = logic<0xa6>(t13, t31, t33);
  const Word t36 = logic<0x1a>(t6, x[3], x[1]);
  const Word t37 = logic<0xdc>(t36, t30, x[1]);
  const Word t38 = logic<0xf8>(t13, x[3], x[1]);
  const Word t39 = logic<0xd2>(x[2], t37, t35);
  const Word t40 = logic<0xba>(t39, t38, t34);
  const Word t41 = logic<0xa6>(t13, t36, t32);
  const Word t42 = logic<0x6e>(t32, t33, t34);
  const Word t43 = logic<0x96>(t42, t26, t27);
  const Word t44 = logic<0xba>(t37, t13, t43);
  const Word t45 = logic<0x3c>(t44, t40, t40);
  const Word t46 = logic<0xd2>(t33, t45, t42);
  const Word t47 = logic<0x36>(t24, t34, t46);
  const Word t48 = logic<0x12>(t0, t47, x[6]);
  const Word t49 = logic<0x3c>(t45, t41, t41);
  const Word t50 = logic<0x26>(t49, t33, t46);
  const Word t51 = logic<0x06>(t50, x[7], x[5]);
  const Word t52 = logic<0xe6>(t6, t47, t50);
  const Word t53 = logic<0xf2>(t46, t49, t25);
  const Word t54 = logic<0x26>(t44, t49, t46);
  const Word t55 = logic<0x90>(t0, t53, t47);
  const Word t56 = logic<0x82>(t50, t54, t1);
  const Word t57 = logic<0x96>(t52, t54, t53);
  const Word t58 = logic<0x28>(t57, t52, x[4]);
  const Word t59 = logic<0x60>(t54, x[6], x[4]);
  const Word t60 = logic<0x6a>(t52, x[5], t58);
  const Word t61 = logic<0x6a>(t4, t57, t58);
  const Word t62 = logic<0x6a>(t53, x[6], t60);
  const Word t63 = logic<0x96>(t51, t59, t60);
  const Word t64 = logic<0x96>(t59, t56, t61);
  const Word t65 = logic<0x96>(t61, t55, t48);
  const Word t66 = logic<0x3c>(t55, t62, t62);
  const Word t67 = logic<0xae>(t66, t63, t64);
  const Word t68 = logic<0x8c>(t65, t63, t64);
  const Word t69 = logic<0x9d>(t68, t66, t65);
  const Word t70 = logic<0x18>(t65, t63, t64);
  const Word t71 = logic<0xc6>(t65, t67, t69);
  const Word t72 = logic<0xfa>(t65, t66, t66);
  const Word t73 = logic<0x9a>(t72, t68, t49);
  const Word t74 = logic<0x2e>(t69, t66, t70);
  const Word t75 = logic<0x96>(t64, t45, t74);
  const Word t76 = logic<0x3c>(t71, t45, t45);
  const Word t77 = logic<0x9a>(t69, t70, t76);
  x[7] = t35;
  x[6] = t44;
  x[5] = t40;
  x[4] = t41;
  x[3] = t73;
  x[2] = t76;
  x[1] = t75;
  x[0] = t77;
}

// Functions in mix().
inline constexpr int mix_logic = 16 * 83;

// A step R. Word 8b + i of the state holds bit i of byte b, byte 0 being the first in memory. Instead of
// moving bytes, each step renumbers them: byte 15 is at position `out`, and byte 0 at the next position,
// modulo 16. `y` is byte 15 and becomes the new byte 0.
//
// L is the steps with `out` from 15 down to 0, after which each byte has its own number again.
template <unsigned out>
GPUAES_CIRCUIT inline void mix_step(const Word* s, Word* y) {
  const auto a = [&](unsigned byte, unsigned bit) -> const Word& {
    return s[(byte + out + 1) % 16 * 8 + bit];
  };
  const Word t0 = add(a(7, 4), a(0, 6), a(14, 6));
  y[3] = add(y[3], t0, a(8, 3));
  const Word t1 = add(t0, a(3, 1), a(11, 1));
  const Word t2 = a(14, 5) ^ a(4, 3);
  const Word t3 = add(t2, a(0, 5), a(10, 3));
  y[2] = add(y[2], t3, a(14, 1));
  const Word t4 = add(t3, a(3, 0), a(11, 0));
  const Word t5 = add(t4, a(2, 4), a(12, 4));
  y[4] = add(y[4], t5, a(8, 4));
  y[3] = add(y[3], t5, a(6, 3));
  const Word t6 = add(a(7, 7), a(1, 4), a(13, 4));
  const Word t7 = add(a(7, 7), a(0, 3), a(14, 3));
  const Word t8 = add(t6, a(0, 4), a(14, 4));
  const Word t9 = add(t6, t1, a(11, 6));
  const Word t10 = add(t9, a(3, 6), a(7, 3));
  const Word t11 = add(t7, a(9, 7), a(5, 7));
  y[2] = add(y[2], t11, a(8, 2));
  const Word t12 = add(t10, a(5, 3), a(9, 3));
  const Word t13 = add(t12, a(13, 1), a(1, 1));
  const Word t14 = add(t13, a(11, 3), a(3, 3));
  const Word t15 = add(t14, a(0, 0), a(14, 0));
  const Word t16 = add(t15, a(13, 0), a(1, 0));
  const Word t17 = add(t16, a(11, 7), a(3, 7));
  y[5] = add(y[5], t17, a(8, 5));
  const Word t18 = add(t15, a(2, 6), a(12, 6));
  const Word t19 = add(t18, a(1, 7), a(13, 7));
  const Word t20 = add(t18, a(2, 1), a(12, 1));
  const Word t21 = add(t13, t19, t8);
  const Word t22 = add(t21, a(2, 5), a(12, 5));
  const Word t23 = add(t19, a(0, 7), a(1, 3));
  const Word t24 = add(t23, a(14, 7), a(13, 3));
  const Word t25 = add(t24, a(11, 4), a(3, 4));
  const Word t26 = add(t25, a(5, 0), a(9, 0));
  y[7] = add(y[7], t26, a(8, 7));
  const Word t27 = add(t26, a(11, 5), a(1, 6));
  const Word t28 = add(t27, a(10, 0), a(13, 6));
  const Word t29 = add(t28, a(4, 0), a(3, 5));
  const Word t30 = add(t29, t17, a(7, 1));
  const Word t31 = add(t30, a(2, 0), a(12, 0));
  y[3] = add(y[3], t31, t20);
  const Word t32 = add(t29, a(1, 5), a(4, 7));
  const Word t33 = add(t32, a(10, 7), a(13, 5));
  const Word t34 = add(t31, a(0, 2), a(14, 2));
  const Word t35 = add(t1, t34, t11);
  const Word t36 = add(t35, a(2, 2), a(12, 2));
  const Word t37 = add(t34, a(9, 1), a(5, 1));
  y[2] = add(y[2], t37, a(6, 2));
  const Word t38 = add(t36, t8, a(7, 2));
  const Word t39 = add(t38, t7, a(7, 6));
  const Word t40 = add(t39, a(10, 5), a(4, 5));
  y[1] = add(y[1], t40, a(8, 1));
  const Word t41 = add(t40, a(5, 2), a(9, 2));
  const Word t42 = add(a(7, 6), a(10, 2), a(4, 2));
  const Word t43 = t42 ^ t33;
  const Word t44 = add(t43, t24, t38);
  const Word t45 = add(t44, a(13, 2), a(1, 2));
  const Word t46 = add(t45, a(9, 5), a(5, 5));
  const Word t47 = add(t45, a(10, 1), a(4, 1));
  y[6] = add(y[6], t47, a(8, 6));
  const Word t48 = add(t46, t42, t22);
  const Word t49 = add(t48, a(5, 6), a(9, 6));
  const Word t50 = add(t49, a(2, 7), a(12, 7));
  const Word t51 = add(t25, t50, t41);
  const Word t52 = add(t51, a(2, 3), a(12, 3));
  const Word t53 = add(t52, t20, a(7, 4));
  const Word t54 = add(t53, a(10, 6), a(4, 6));
  y[2] = add(y[2], t54, a(0, 1));
  y[0] = add(y[0], t54, a(8, 0));
  const Word t55 = add(t54, a(4, 4), a(10, 4));
  y[7] = add(y[7], t55, a(6, 7));
  y[6] = add(y[6], t55, a(6, 6));
  const Word t56 = add(t22, a(9, 4), a(5, 4));
  const Word t57 = add(t52, t56, t33);
  const Word t58 = add(t57, t36, a(7, 0));
  y[5] = add(y[5], t58, a(6, 5));
  const Word t59 = add(t50, t58, t47);
  const Word t60 = add(t59, t37, t10);
  const Word t61 = add(t60, a(3, 2), a(11, 2));
  y[4] = add(y[4], t61, a(6, 4));
  y[1] = add(y[1], t61, a(6, 1));
  const Word t62 = add(t41, t56, a(7, 5));
  y[0] = add(y[0], t62, a(6, 0));
  y[3] = add(y[3], t62, t46);
}

// L, in place.
GPUAES_CIRCUIT inline void mix(Word (&s)[128]) {
  mix_step<15>(s, s + 120);
  mix_step<14>(s, s + 112);
  mix_step<13>(s, s + 104);
  mix_step<12>(s, s + 96);
  mix_step<11>(s, s + 88);
  mix_step<10>(s, s + 80);
  mix_step<9>(s, s + 72);
  mix_step<8>(s, s + 64);
  mix_step<7>(s, s + 56);
  mix_step<6>(s, s + 48);
  mix_step<5>(s, s + 40);
  mix_step<4>(s, s + 32);
  mix_step<3>(s, s + 24);
  mix_step<2>(s, s + 16);
  mix_step<1>(s, s + 8);
  mix_step<0>(s, s + 0);
}
