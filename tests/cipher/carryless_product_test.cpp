// Both ways to compute carry-less products, on the host.
#include "cipher/modes/carryless_product.hpp"

#include <vector>

#include "support/carryless_cases.hpp"
#include "support/catch.hpp"

namespace gpuaes {
namespace {

template <class Factor>
std::vector<carryless::Product> sums_of(const std::vector<CarrylessCase>& cases) {
  std::vector<carryless::Product> sums;
  for (const CarrylessCase& each : cases) {
    sums.push_back(each.sum);
    Factor(each.y).add_product(each.x, sums.back());
  }
  return sums;
}

}  // namespace

TEST_CASE("carry-less products match bit-by-bit multiplication, by integer multiplication and with clmad") {
  const std::vector<CarrylessCase> cases = carryless_cases(20000);
  CHECK(count_right(cases, sums_of<carryless::IntegerFactor>(cases)) == cases.size());
  CHECK(count_right(cases, sums_of<carryless::ClmadFactor>(cases)) == cases.size());
}

}  // namespace gpuaes
