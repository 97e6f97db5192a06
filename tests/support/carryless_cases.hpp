// Carry-less products with known results, for tests of the classes that compute them on the host and on GPUs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "cipher/modes/carryless_product.hpp"

namespace gpuaes {

// The product of x and y is added to `sum`.
struct CarrylessCase {
  std::uint32_t x[4], y[4];
  carryless::Product sum;
};

// The result, computed bit by bit.
inline carryless::Product bitwise_sum(const CarrylessCase& each) {
  carryless::Product sum = each.sum;
  for (unsigned i = 0; i < 128; ++i) {
    if (!(each.x[i / 32] >> i % 32 & 1)) continue;
    for (unsigned word = 0; word < 4; ++word) {
      const std::uint64_t shifted = std::uint64_t{each.y[word]} << i % 32;
      sum.words[i / 32 + word] ^= static_cast<std::uint32_t>(shifted);
      sum.words[i / 32 + word + 1] ^= static_cast<std::uint32_t>(shifted >> 32);
    }
  }
  return sum;
}

// Each pair of single bits, all ones, and random numbers.
inline std::vector<CarrylessCase> carryless_cases(std::size_t random_count) {
  std::vector<CarrylessCase> cases;
  for (unsigned i = 0; i < 128; ++i)
    for (unsigned j = 0; j < 128; ++j) {
      CarrylessCase& each = cases.emplace_back();
      each.x[i / 32] = 1u << i % 32;
      each.y[j / 32] = 1u << j % 32;
    }
  constexpr std::uint32_t ones = 0xffffffff;
  cases.push_back({{ones, ones, ones, ones}, {ones, ones, ones, ones}, {}});
  std::mt19937 random(1);
  const auto fill = [&](auto& words) {
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  };
  for (std::size_t i = 0; i < random_count; ++i) {
    CarrylessCase& each = cases.emplace_back();
    fill(each.x);
    fill(each.y);
    fill(each.sum.words);
  }
  return cases;
}

// The number of cases for which `sums` has the right result.
inline std::size_t count_right(const std::vector<CarrylessCase>& cases,
                               const std::vector<carryless::Product>& sums) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < cases.size(); ++i)
    right += std::ranges::equal(sums[i].words, bitwise_sum(cases[i]).words) ? 1 : 0;
  return right;
}

}  // namespace gpuaes
