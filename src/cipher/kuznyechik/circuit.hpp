// Kuznyechik's S and L as circuits for bitsliced code, without tables or branches. Each line is a function of
// three bits: one GPU instruction (LOP3) on 32 bytes or blocks, or one AVX-512 instruction on 512.
//
// Bytes are held in a basis other than the standard's. The change of basis is linear, like key addition and
// L, so only blocks that enter or leave the cipher, and round keys, must be converted. The basis is chosen
// for both circuits.
//
// S has the structure that Biryukov, Perrin and Udovenko found ("Reverse-engineering the S-box of Streebog,
// Kuznyechik and STRIBOBr1", 2016), with the field F and the cosets of Perrin ("Partitions in the S-box of
// Streebog and Kuznyechik", 2019): F has the polynomial x^8 + x^4 + x^3 + x^2 + 1. With 1 and b as a basis
// over the subfield of 16 elements, an element is u b + v. Let w = v / u, which takes an inversion and a
// multiplication in the subfield. One half of the result, r, is a 4-bit function of w, or a different
// function of v if u is 0. The other half is a function of u h(r), a second multiplication. This holds up to
// adding one half to the other.
//
// The circuit's basis consists of a basis of v and one of u, which makes a linear map at the input
// unnecessary. Both are products of bases over the subfield of 4 elements, which suits the multiplications (9
// products each).
//
// The search started from these formulas, with random values for the free parameters (the scale of each
// intermediate basis, and which 4 bits of the result are which half), mapped to functions of three bits (ABC:
// dch, if -K 3, mfs2). A random walk then kept replacing a node by a function of three other nodes, sometimes
// including a new one, with the same effect on the outputs for all 256 inputs, as long as the number of nodes
// did not grow. The best of about forty starts has 78 functions. For CPUs that only have two-input gates
// (simd_gates.hpp), annealing then selected the nodes to invert; the functions that use them compensate for
// this. Annealing reduced the number of gates from 192 to 161.
//
// L is 16 steps R, and each step is the sum of 15 products c_k a_k and a_15. Bit j of a_k contributes the
// element c_k e_j, where e_0 to e_7 is the basis. Words that contribute the same element are summed first.
// The sum for an element outside the basis is then added to the sums for two (or three) elements that add up
// to it, until only elements of the basis are left. The cost depends on the number of elements: this basis,
// one of the kind that suits S, leaves 43 outside it, among the fewest for this kind (42 to 56). Annealing
// then selected how to split each element, to minimize three-input sums with an unused input. A step has 83
// functions.
#pragma once

#include <cstdint>

#include "cipher/host_device.hpp"
#include "cipher/kuznyechik/kuznyechik.hpp"

namespace gpuaes::kuznyechik {

// basis[i] is the byte, in the standard's basis, that bit i of a byte in the circuit stands for.
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

using Word = std::uint32_t;  // on GPUs; cpu_body.hpp uses vectors
using gpuaes::add;           // in addition to add() of blocks

#define GPUAES_CIRCUIT GPUAES_HD
#include "cipher/kuznyechik/circuit_body.hpp"
#undef GPUAES_CIRCUIT

}  // namespace gpuaes::kuznyechik
