// The syntax of -l.
#include "cli/option_values.hpp"

#include <string_view>
#include <vector>

#include "support/catch.hpp"

namespace gpuaes {

TEST_CASE("lanes are parsed, and printed as they were written") {
  CHECK(parse_lanes("auto").named.empty());
  CHECK_FALSE(parse_lanes("auto").low_cpu);
  CHECK(parse_lanes("auto:low-cpu").named.empty());
  CHECK(parse_lanes("auto:low-cpu").low_cpu);
  for (const std::string_view text :
       {"cpu", "cpu:1", "cpu:8", "cpu:1024", "cuda", "cuda:0", "cuda:0:4", "cuda:63:64", "cpu:2+cuda:0:4",
        "cuda:0:4+cuda:1:4+cpu:8", "cpu+cpu", "cuda:1+cpu"})
    CHECK(to_string(parse_lanes(text).named) == text);

  CHECK_FALSE(parse_lanes("cuda").named.at(0).device.has_value());
  const std::vector<LaneSpec> specs = parse_lanes("cpu+cuda:3+cuda+cuda:1:2").named;
  REQUIRE(specs.size() == 4);
  CHECK(specs[0].backend == Backend::cpu);
  CHECK_FALSE(specs[0].count.has_value());
  CHECK(specs[1].backend == Backend::cuda);
  CHECK(specs[1].device == 3u);
  CHECK_FALSE(specs[1].count.has_value());
  CHECK(specs[2].backend == Backend::cuda);
  CHECK(specs[2].device == 0u);  // next to other lanes
  CHECK(specs[3].device == 1u);
  CHECK(specs[3].count == 2u);
}

}  // namespace gpuaes
