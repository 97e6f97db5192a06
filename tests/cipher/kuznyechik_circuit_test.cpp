// Kuznyechik's circuits against the tables and the reference.
#include "cipher/kuznyechik/circuit.hpp"

#include <array>
#include <random>

#include "support/catch.hpp"
#include "support/kuznyechik_reference.hpp"

namespace gpuaes {
namespace {

using kuznyechik::Block;

constexpr unsigned slices = 32;
using Blocks = std::array<Block, slices>;

struct State {
  std::uint32_t words[128];
};

// Bit i of byte b of block k becomes bit k of word 8b + i.
State slice(const Blocks& blocks) {
  State state{};
  for (unsigned k = 0; k < slices; ++k)
    for (unsigned bit = 0; bit < 128; ++bit) state.words[bit] |= (blocks[k][bit / 8] >> bit % 8 & 1u) << k;
  return state;
}

Blocks unslice(const State& state) {
  Blocks blocks{};
  for (unsigned k = 0; k < slices; ++k)
    for (unsigned bit = 0; bit < 128; ++bit)
      blocks[k][bit / 8] |= static_cast<std::uint8_t>((state.words[bit] >> k & 1u) << bit % 8);
  return blocks;
}

Blocks mapped(Blocks blocks, const kuznyechik::Substitution& map) {
  for (Block& block : blocks) block = kuznyechik::substitute(block, map);
  return blocks;
}

// The byte that a function of 8 words computes from `byte` in one slice; the other slices are zero.
template <class Map>
unsigned byte_after(Map map, unsigned byte, unsigned slice) {
  std::uint32_t x[8];
  for (unsigned i = 0; i < 8; ++i) x[i] = (byte >> i & 1) << slice;
  map(x);
  unsigned result = 0;
  for (unsigned i = 0; i < 8; ++i) result |= (x[i] >> slice & 1) << i;
  return result;
}

Blocks random_blocks(std::mt19937_64& random) {
  Blocks blocks;
  for (Block& block : blocks)
    for (std::uint8_t& byte : block) byte = static_cast<std::uint8_t>(random());
  return blocks;
}

// L of blocks in the standard's basis, computed by the circuit.
Blocks mixed(const Blocks& blocks) {
  State state = slice(mapped(blocks, kuznyechik::to_circuit));
  kuznyechik::mix(state.words);
  return mapped(unslice(state), kuznyechik::from_circuit);
}

}  // namespace

TEST_CASE("Kuznyechik's change of basis by circuit matches the one by table, in both directions") {
  for (unsigned byte = 0; byte < 256; ++byte) {
    CHECK(kuznyechik::from_circuit[kuznyechik::to_circuit[byte]] == byte);
    for (unsigned slice = 0; slice < slices; ++slice) {
      REQUIRE(byte_after(kuznyechik::to_circuit_basis, byte, slice) == kuznyechik::to_circuit[byte]);
      REQUIRE(byte_after(kuznyechik::from_circuit_basis, byte, slice) == kuznyechik::from_circuit[byte]);
    }
  }
}

TEST_CASE("the circuit of Kuznyechik's S matches the table in every slice") {
  const auto circuit = [](std::uint32_t x[8]) { kuznyechik::substitute(x); };
  for (unsigned byte = 0; byte < 256; ++byte)
    for (unsigned slice = 0; slice < slices; ++slice)
      REQUIRE(kuznyechik::from_circuit[byte_after(circuit, kuznyechik::to_circuit[byte], slice)] ==
              kuznyechik::pi[byte]);
}

TEST_CASE("the circuit of Kuznyechik's L matches the standard for every single bit and for random blocks") {
  for (unsigned first = 0; first < 128; first += slices) {
    Blocks units{};
    for (unsigned k = 0; k < slices; ++k)
      units[k][(first + k) / 8] = static_cast<std::uint8_t>(1u << (first + k) % 8);
    const Blocks result = mixed(units);
    for (unsigned k = 0; k < slices; ++k) CHECK(result[k] == kuznyechik::mix(units[k]));
  }
  std::mt19937_64 random(7801);
  for (int i = 0; i < 20; ++i) {
    const Blocks blocks = random_blocks(random);
    const Blocks result = mixed(blocks);
    for (unsigned k = 0; k < slices; ++k) REQUIRE(result[k] == kuznyechik::mix(blocks[k]));
  }
}

}  // namespace gpuaes
