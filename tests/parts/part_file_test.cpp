// Names of incomplete parts.
#include "parts/part_file.hpp"

#include <string>

#include "support/catch.hpp"

namespace gpuaes {

TEST_CASE("the name of an incomplete file shows its host and process") {
  const auto attempt = parse_attempt(".part.0000003.host.example.123.abcdef");
  REQUIRE(attempt);
  CHECK(attempt->file == "part.0000003");
  CHECK(attempt->host == "host.example");
  CHECK(attempt->pid == "123");
  CHECK(parse_attempt(".index.host.1.x")->file == "index");
  for (const std::string name :
       {"", "part.0000003", ".part.", ".part.0000003", ".part.0000003.", ".part.0000003xhost.123.abcdef",
        ".part.0000003..abcdef", ".part.0000003.host", ".part.0000003.host.abcdef", ".other.host.1.x"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_attempt(name));
  }
}

TEST_CASE("the number of parts is one more than the largest that is listed") {
  CHECK(count_listed({}) == 0);
  CHECK(count_listed({"head", "job", "part.0000004", "part.0000001", "part.1", ".part.0000009.h.1.x"}) == 5);
}

}  // namespace gpuaes
