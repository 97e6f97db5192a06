// The values that a sweep tries, and its choices among measured rates.
#include "bench/sweep.hpp"

#include "support/catch.hpp"

using namespace gpuaes;

namespace {

// Threads and blocks per thread.
std::pair<unsigned, unsigned> chosen(const std::vector<ShapeRate>& rates) {
  const ShapeRate& shape = choose_shape(rates);
  return {shape.threads, shape.blocks_per_thread};
}

using Shape = std::pair<unsigned, unsigned>;

}  // namespace

TEST_CASE("blocks per thread make whole tiles and leave at least a warp for each multiprocessor") {
  using Blocks = std::vector<unsigned>;
  // With one block per thread, 4 MiB are 8192 warps: 62.06 for each of 132 multiprocessors.
  CHECK(sweep_blocks(8, 4 << 20, 132) == Blocks{0, 8, 16, 32});
  CHECK(sweep_blocks(4, 4 << 20, 132) == Blocks{0, 4, 8, 16, 32});
  CHECK(sweep_blocks(8, 4 << 20, 128) == Blocks{0, 8, 16, 32, 64});
  CHECK(sweep_blocks(8, (4 << 20) - 1, 128) == Blocks{0, 8, 16, 32});
  CHECK(sweep_blocks(8, 1, 132) == Blocks{0, 8});
  CHECK(sweep_blocks(8, 1 << 30, 1).back() == 4096);
}

TEST_CASE("a sweep tries powers of two and the number of streams that the filter uses") {
  const std::vector<unsigned> powers{1, 2, 4, 8, 16, 32, 64};
  for (const unsigned power : powers) CHECK(sweep_streams_with(power) == powers);
  CHECK(sweep_streams_with(5) == std::vector<unsigned>{1, 2, 4, 5, 8, 16, 32, 64});
}

TEST_CASE("a shape is chosen only if it is faster than the kernel's own by more than noise") {
  CHECK(chosen({{0, 0, 100}}) == Shape{0, 0});
  CHECK(chosen({{0, 0, 100}, {128, 0, 101.9}, {256, 8, 90}}) == Shape{0, 0});
  CHECK(chosen({{0, 0, 100}, {128, 0, 100}}) == Shape{0, 0});
  CHECK(chosen({{128, 0, 100}, {0, 0, 100}}) == Shape{0, 0});
  CHECK(chosen({{0, 0, 100}, {128, 0, 90}, {256, 8, 102.1}}) == Shape{256, 8});
  CHECK(chosen({{0, 0, 100}, {128, 0, 102.1}, {256, 8, 90}}) == Shape{128, 0});
}

TEST_CASE("among equally fast shapes, one that leaves the most to the kernel is chosen, then the fastest") {
  CHECK(chosen({{0, 0, 100}, {128, 8, 151}, {64, 0, 150}, {128, 0, 149}}) == Shape{64, 0});
  CHECK(chosen({{0, 0, 100}, {64, 0, 149}, {128, 0, 150}, {128, 8, 151}}) == Shape{128, 0});
  CHECK(chosen({{0, 0, 100}, {128, 8, 160}, {64, 0, 150}, {128, 0, 149}}) == Shape{128, 8});
  CHECK(chosen({{128, 1, 50}, {256, 1, 50.5}, {512, 1, 50.4}}) == Shape{256, 1});
  CHECK(chosen({{128, 1, 50}, {256, 1, 50}}) == Shape{128, 1});
}

TEST_CASE(
    "the number of streams changes only for a gain above noise, to the smallest number that achieves it") {
  using Rates = std::vector<StreamsRate>;
  CHECK(choose_streams(Rates{{1, 20}, {2, 40}, {4, 46}, {8, 45.2}, {16, 45}}, 8) == 0);
  CHECK(choose_streams(Rates{{1, 20}, {2, 40}, {4, 46}, {8, 45}, {16, 45.5}}, 8) == 4);
  CHECK(choose_streams(Rates{{2, 44}, {4, 45.5}, {8, 40}, {16, 46}}, 8) == 4);
  CHECK(choose_streams(Rates{{2, 44}, {4, 45}, {8, 40}, {16, 46}}, 8) == 16);
  CHECK(choose_streams(Rates{{16, 46}, {8, 40}, {4, 45.5}}, 8) == 4);
  CHECK(choose_streams(Rates{{32, 40}, {64, 46}}, 32) == 64);
}

TEST_CASE("the number of streams does not change if it was not measured") {
  CHECK(choose_streams({}, 8) == 0);
  CHECK(choose_streams(std::vector<StreamsRate>{{1, 20}, {2, 40}}, 8) == 0);
}
