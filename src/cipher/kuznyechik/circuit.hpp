// Kuznyechik's S and L as circuits for bitsliced code: no table, no address, no branch. Every line is a
// function of three bits, which a GPU does with one instruction (LOP3), on 32 bytes or blocks at once, and a
// CPU with AVX-512 on 512.
//
// Bytes are held in another basis than the standard's, linear like the key's addition and L, so only what
// enters and leaves the cipher has to be mapped. The basis is chosen for both circuits.
//
// S has the structure that Biryukov, Perrin and Udovenko found ("Reverse-engineering the S-box of Streebog,
// Kuznyechik and STRIBOBr1", 2016), in the field and with the cosets of Perrin ("Partitions in the S-box of
// Streebog and Kuznyechik", 2019; see nibble_tables.hpp): an element of F is u b + v, u and v in the
// subfield of 16 elements; with w = v / u, an inversion and a multiplication there, or v itself where u is 0,
// through a 4-bit function each, one half of the result is r; a function of u h(r), another multiplication,
// is the other half, up to sums of halves. The circuit's basis is one of v and one of u, so that there is no
// linear map in front; both are products of bases over the subfield of 4 elements, which the multiplications
// (9 products each) like. Written down so with random choices of what is free (the scale of each
// intermediate basis, which 4 bits of the result are whose half), mapped to functions of three bits (ABC:
// dch, if -K 3, mfs2), and then walked at random: a node becomes any function of three other nodes, at times
// one of them new, that has the same effect on the outputs, compared over all 256 inputs, if that makes no
// more of them; the best of some forty starts for minutes. 78 are left. Which nodes are held inverted, which
// those that take them make up for, was annealed then for CPUs that have gates of two bits only
// (simd_gates.hpp): 161 of these, and 192 before.
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
#include "cipher/kuznyechik/kuznyechik.hpp"

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

using Word = std::uint32_t;  // of GPUs; bitslice_simd.cpp has longer ones
using gpuaes::add;           // in addition to add() of blocks

#define GPUAES_CIRCUIT GPUAES_HD
#include "cipher/kuznyechik/circuit_body.hpp"
#undef GPUAES_CIRCUIT

}  // namespace gpuaes::kuznyechik
