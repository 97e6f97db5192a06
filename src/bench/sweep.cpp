#include "bench/sweep.hpp"

#include <algorithm>
#include <tuple>

namespace gpuaes {
namespace {

constexpr unsigned warp_threads = 32;
constexpr std::size_t block_bytes = 16;
constexpr unsigned max_blocks = 4096;  // more make no difference

bool as_fast(double rate, double fastest) {
  return rate * (1 + sweep_noise) >= fastest;
}

int fixed_parts(const ShapeRate& shape) {
  return (shape.threads > 0) + (shape.blocks_per_thread > 0);
}

}  // namespace

std::vector<unsigned> sweep_blocks(unsigned tile_blocks, std::size_t size, unsigned multiprocessors) {
  std::vector<unsigned> blocks{0, tile_blocks};
  // Per thread, with one warp for each multiprocessor.
  const std::size_t each = size / block_bytes / warp_threads / multiprocessors;
  for (unsigned more = 2 * tile_blocks; more <= std::min<std::size_t>(each, max_blocks); more *= 2)
    blocks.push_back(more);
  return blocks;
}

std::vector<unsigned> sweep_streams_with(unsigned filter_streams) {
  std::vector<unsigned> streams(sweep_streams.begin(), sweep_streams.end());
  const auto at = std::ranges::lower_bound(streams, filter_streams);
  if (at == streams.end() || *at != filter_streams) streams.insert(at, filter_streams);
  return streams;
}

const ShapeRate& choose_shape(std::span<const ShapeRate> rates) {
  const double fastest = std::ranges::max_element(rates, {}, &ShapeRate::rate)->rate;
  const auto order = [&](const ShapeRate& rate) {
    return std::tuple(!as_fast(rate.rate, fastest), fixed_parts(rate), -rate.rate);
  };
  return *std::ranges::min_element(rates, {}, order);
}

unsigned choose_streams(std::span<const StreamsRate> rates, unsigned filter_streams) {
  const auto as_before = std::ranges::find(rates, filter_streams, &StreamsRate::streams);
  if (as_before == rates.end()) return 0;
  const double fastest = std::ranges::max_element(rates, {}, &StreamsRate::rate)->rate;
  if (as_fast(as_before->rate, fastest)) return 0;
  unsigned fewest = sweep_streams.back();
  for (const StreamsRate& rate : rates)
    if (as_fast(rate.rate, fastest)) fewest = std::min(fewest, rate.streams);
  return fewest;
}

}  // namespace gpuaes
