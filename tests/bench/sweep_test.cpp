// The values that a sweep tries, and its choices among measured rates.
#include "bench/sweep.hpp"

#include <tuple>
#include <utility>
#include <vector>

#include "support/catch.hpp"

using namespace gpuaes;

namespace {

// Threads and blocks per thread of the chosen one; each item has these two and its rate.
using Shape = std::pair<unsigned, unsigned>;
Shape chosen(const std::vector<std::tuple<unsigned, unsigned, double>>& shapes) {
  std::vector<SweepRate> rates;
  for (const auto& [threads, blocks, rate] : shapes) rates.push_back({threads, blocks, 0, rate});
  const SweepRate& shape = choose_fastest(rates);
  return {shape.threads, shape.blocks_per_thread};
}

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

TEST_CASE("the smallest number of streams is chosen that is as fast as any") {
  const auto streams_of = [](const std::vector<std::pair<unsigned, double>>& measured) {
    std::vector<SweepRate> rates;
    for (const auto& [streams, rate] : measured) rates.push_back({0, 0, streams, rate});
    return choose_fastest(rates).streams;
  };
  CHECK(streams_of({{1, 20}, {2, 40}, {4, 46}, {8, 45.2}, {16, 45}}) == 4);
  CHECK(streams_of({{2, 44}, {4, 45.5}, {8, 40}, {16, 46}}) == 4);
  CHECK(streams_of({{2, 44}, {4, 45}, {8, 40}, {16, 46}}) == 16);
  CHECK(streams_of({{16, 46}, {8, 40}, {4, 45.5}}) == 4);
  CHECK(streams_of({{32, 40}, {64, 46}}) == 64);
}
