// Functions of three bits made of two-input gates, for vectors without instructions for three inputs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace gpuaes {

// The gates of x86: AND, OR, XOR and AND-NOT (not left, and right). Inputs and constants need none.
enum class Gate : std::uint8_t { none, both, either, sum, only_right };

// The tables of a, b and c, in the form that logic() in cipher/host_device.hpp takes, and of the constant 1.
inline constexpr std::uint8_t table_a = 0xf0, table_b = 0xcc, table_c = 0xaa, table_ones = 0xff;

// How to make a function: a gate, and the tables of its two inputs.
struct Recipe {
  Gate gate;
  std::uint8_t left, right;
};

inline constexpr unsigned max_gates = 5;  // enough for every function

// Finds the fewest gates: functions of n gates are made from all pairs of functions that have n - 1 gates
// together. (A subfunction that is used twice counts twice, but this changes none of the 256 results.)
constexpr std::array<Recipe, 256> make_recipes() {
  std::array<Recipe, 256> recipes{};
  std::array<bool, 256> is_found{};
  std::array<std::uint8_t, 256> found{};        // tables, ordered by number of gates
  std::array<unsigned, max_gates + 2> first{};  // first index in `found` with that many gates
  unsigned end = 0;
  const auto add = [&](unsigned table, Recipe recipe) {
    if (is_found[table]) return;
    is_found[table] = true;
    recipes[table] = recipe;
    found[end++] = static_cast<std::uint8_t>(table);
  };
  for (const std::uint8_t given : {table_a, table_b, table_c, table_ones, std::uint8_t{0}}) add(given, {});
  for (unsigned gates = 1; gates <= max_gates; ++gates) {
    first[gates] = end;
    for (unsigned of_left = 0; of_left < gates; ++of_left) {
      const unsigned of_right = gates - 1 - of_left;
      for (unsigned i = first[of_left]; i < first[of_left + 1]; ++i)
        for (unsigned k = first[of_right]; k < first[of_right + 1]; ++k) {
          const std::uint8_t left = found[i], right = found[k];
          add(left & right, {Gate::both, left, right});
          add(left | right, {Gate::either, left, right});
          add(left ^ right, {Gate::sum, left, right});
          add(~left & right & 0xff, {Gate::only_right, left, right});
        }
    }
  }
  return recipes;
}
inline constexpr std::array<Recipe, 256> recipes = make_recipes();
static_assert(std::ranges::count(recipes, Gate::none, &Recipe::gate) == 5);

}  // namespace gpuaes
