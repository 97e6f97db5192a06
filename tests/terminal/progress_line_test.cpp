// The text of the progress line of -P, and what is left of it if space is short.
#include "terminal/progress.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

namespace gpuaes {
namespace {

constexpr std::uint64_t mib = 1 << 20, gib = 1 << 30;
constexpr double day = 86400;

ProgressState usual() {
  return {.bytes = gib + gib / 4, .size = 25 * gib / 8, .seconds = 12.7, .lanes = "cpu:2"};
}

}  // namespace

TEST_CASE("a wide line has all parts, and the bar fills the remaining space") {
  CHECK(progress_line(usual(), 67) == "1.25GiB 0:00:12 [ 101MiB/s] [=====>        ] 40% ETA 0:00:19  cpu:2");
  const std::string wide = progress_line(usual(), 187);
  CHECK(wide.size() == 187);
  CHECK(wide.find(std::string(53, '=') + '>' + std::string(80, ' ') + "] 40% ETA") != std::string::npos);
}

TEST_CASE("a narrow line has no bar, or is cut off, and is never too long") {
  CHECK(progress_line(usual(), 0) == "");
  CHECK(progress_line(usual(), 7) == "1.25GiB");
  CHECK(progress_line(usual(), 20) == "1.25GiB 0:00:12 [ 10");
  CHECK(progress_line(usual(), 56) == "1.25GiB 0:00:12 [ 101MiB/s]  40% ETA 0:00:19  cpu:2");
  CHECK(progress_line(usual(), 58) == "1.25GiB 0:00:12 [ 101MiB/s] [==>  ] 40% ETA 0:00:19  cpu:2");
  for (std::size_t columns = 0; columns < 250; ++columns)
    for (const std::uint64_t bytes : {std::uint64_t{0}, mib, 4 * gib, UINT64_MAX})
      for (const double seconds : {0.0, 3.0, 400 * day}) {
        ProgressState state = usual();
        state.bytes = bytes;
        state.seconds = seconds;
        CAPTURE(columns, bytes, seconds);
        CHECK(progress_line(state, columns).size() <= columns);
      }
}

TEST_CASE("the name of one of several inputs is first, unless it is too long") {
  ProgressState state = usual();
  state.name = "disk.sealed";
  CHECK(progress_text(state) == "disk.sealed: 1.25GiB 0:00:12 [ 101MiB/s]  40% ETA 0:00:19  cpu:2");
  CHECK(progress_line(state, 64) == progress_text(state));
  CHECK(progress_line(state, 60) == "1.25GiB 0:00:12 [ 101MiB/s] [==>    ] 40% ETA 0:00:19  cpu:2");
}

TEST_CASE("without a known size there is no bar, no percentage and no ETA") {
  for (const std::optional<std::uint64_t> size : {std::optional<std::uint64_t>{}, {std::uint64_t{0}}}) {
    ProgressState state = usual();
    state.size = size;
    CHECK(progress_line(state, 200) == "1.25GiB 0:00:12 [ 101MiB/s]  cpu:2");
  }
}

TEST_CASE("before any progress the rate is zero and there is no ETA") {
  CHECK(progress_line({.size = gib}, 48) == "    0 B 0:00:00 [    0 B/s] [>             ]  0%");
  CHECK(progress_line({}, 60) == "    0 B 0:00:00 [    0 B/s]");
}

TEST_CASE("beyond the expected size the percentage stays at 100 and there is no ETA") {
  for (const std::uint64_t size : {gib + gib / 4, gib, std::uint64_t{1}}) {
    ProgressState state = usual();
    state.size = size;
    CHECK(progress_text(state) == "1.25GiB 0:00:12 [ 101MiB/s] 100%  cpu:2");
    CHECK(progress_line(state, 46) == "1.25GiB 0:00:12 [ 101MiB/s] [=====]100%  cpu:2");
  }
}

TEST_CASE("the percentage is 100 only at the end") {
  CHECK(progress_text({.bytes = gib - 1, .size = gib, .seconds = 1}).find(" 99% ETA 0:00:00") !=
        std::string::npos);
}

TEST_CASE("the last line has no ETA, even if the run did not complete") {
  ProgressState state = usual();
  state.ended = true;
  CHECK(progress_text(state) == "1.25GiB 0:00:12 [ 101MiB/s]  40%  cpu:2");
}

TEST_CASE("times include days, and an ETA of many days is omitted") {
  CHECK(describe_time(0.99) == "0:00:00");
  CHECK(describe_time(day - 1) == "23:59:59");
  CHECK(describe_time(day) == "1:00:00:00");
  CHECK(describe_time(12 * day + 3 * 3600 + 4 * 60 + 5) == "12:03:04:05");
  ProgressState slow{.bytes = 1, .size = 2, .seconds = 2 * day};
  CHECK(progress_text(slow).find(" ETA 2:00:00:00") != std::string::npos);
  slow.size = gib;
  CHECK(progress_text(slow).find("ETA") == std::string::npos);
}

TEST_CASE("amounts have three digits and take seven columns") {
  CHECK(describe_amount(0) == "    0 B");
  CHECK(describe_amount(999) == "  999 B");
  CHECK(describe_amount(999.5) == "0.98KiB");
  CHECK(describe_amount(1024) == "1.00KiB");
  CHECK(describe_amount(9.99 * 1024) == "9.99KiB");
  CHECK(describe_amount(9.996 * 1024) == "10.0KiB");
  CHECK(describe_amount(99.96 * 1024) == " 100KiB");
  CHECK(describe_amount(999.4 * 1024) == " 999KiB");
  CHECK(describe_amount(1023.0 * 1024) == "1.00MiB");
  CHECK(describe_amount(static_cast<double>(UINT64_MAX)) == "16.0EiB");
}

TEST_CASE("lanes with the same name are counted together") {
  const auto text = [](const std::vector<std::string>& names) { return describe_active_lanes(names); };
  CHECK(text({}) == "");
  CHECK(text({"cpu"}) == "cpu:1");
  CHECK(text({"cuda:0", "cpu", "cuda:0", "cuda:1", "cpu"}) == "cuda:0:2+cpu:2+cuda:1:1");
}

}  // namespace gpuaes
