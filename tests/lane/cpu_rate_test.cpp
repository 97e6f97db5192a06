// The measured rate of CPU lanes.
#include "lane/cpu_rate.hpp"

#include "base/error.hpp"
#include "support/catch.hpp"

namespace gpuaes {

TEST_CASE("every cipher can be measured, in each of its modes") {
  for (const CipherInfo& row : ciphers) {
    CAPTURE(row.name);
    CHECK_NOTHROW(measure_cpu_lane(row.cipher, true));
    if (row.ctr)
      CHECK_NOTHROW(measure_cpu_lane(row.cipher, false));
    else
      CHECK_THROWS_AS(measure_cpu_lane(row.cipher, false), LaneError);
  }
}

}  // namespace gpuaes
