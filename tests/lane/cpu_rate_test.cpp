// The measured rate of CPU lanes.
#include "lane/cpu_rate.hpp"

#include <cmath>

#include "base/error.hpp"
#include "support/catch.hpp"

namespace gpuaes {

TEST_CASE("every cipher has a rate, in each of its modes") {
  for (const CipherInfo& row : ciphers)
    for (const bool authenticated : {false, true}) {
      CAPTURE(row.name, authenticated);
      if (!authenticated && !row.ctr) {
        CHECK_THROWS_AS(measure_cpu_lane(row.cipher, authenticated), LaneError);
        continue;
      }
      const double rate = measure_cpu_lane(row.cipher, authenticated);
      CHECK(std::isfinite(rate));
      CHECK(rate > 0);
    }
}

}  // namespace gpuaes
