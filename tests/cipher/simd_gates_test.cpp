// Functions of three bits made of two-input gates.
#include "cipher/simd_gates.hpp"

#include "support/catch.hpp"

namespace gpuaes {
namespace {

bool is_given(unsigned table) {
  return table == table_a || table == table_b || table == table_c || table == table_ones || table == 0;
}

unsigned made(unsigned table) {
  if (is_given(table)) return table;
  const Recipe recipe = recipes[table];
  const unsigned left = made(recipe.left), right = made(recipe.right);
  switch (recipe.gate) {
    case Gate::both:
      return left & right;
    case Gate::either:
      return left | right;
    case Gate::sum:
      return left ^ right;
    case Gate::only_right:
      return ~left & right & 0xff;
    case Gate::none:
      break;
  }
  FAIL("no gate for " << table);
  return 0;
}

unsigned gates(unsigned table) {
  return is_given(table) ? 0 : 1 + gates(recipes[table].left) + gates(recipes[table].right);
}

}  // namespace

TEST_CASE("the recipe of each function of three bits makes it with the fewest gates") {
  unsigned counts[max_gates + 1] = {};
  for (unsigned table = 0; table < 256; ++table) {
    CAPTURE(table);
    CHECK(made(table) == table);
    REQUIRE(gates(table) <= max_gates);
    ++counts[gates(table)];
  }
  // An exhaustive search for circuits, in which the result of a gate may be used twice, finds the same
  // numbers.
  const unsigned expected[max_gates + 1] = {5, 18, 72, 97, 52, 12};
  for (unsigned i = 0; i <= max_gates; ++i) CHECK(counts[i] == expected[i]);
  CHECK(gates(0x96) == 2);  // a ^ b ^ c
  CHECK(gates(0xca) == 3);  // a ? b : c
  CHECK(gates(0xe8) == 4);  // the majority
}

}  // namespace gpuaes
