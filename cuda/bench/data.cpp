#include "bench/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "cipher/modes/segments.hpp"

namespace gpuaes::cuda {
namespace {

constexpr std::size_t min_bytes = std::size_t{256} << 20;

constexpr std::size_t segment_scratch = mgm_scratch_bytes(0);

// Pieces begin at multiples of it, and so at segments of every cipher.
constexpr std::size_t alignment = age_segments.plain_bytes;

constexpr std::size_t round_up(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

std::size_t size_with_tags(std::size_t size, const SegmentRules& rules) {
  return size + (size + rules.plain_bytes - 1) / rules.plain_bytes * tag_bytes;
}

std::vector<std::byte> random_bytes(std::size_t size) {
  std::mt19937_64 random(1);
  std::vector<std::byte> bytes(size);
  std::generate_n(reinterpret_cast<std::uint64_t*>(bytes.data()), size / 8, std::ref(random));
  return bytes;
}

}  // namespace

BenchData::BenchData(std::size_t size)
    : plain_(random_bytes(round_up(std::max(size, min_bytes), alignment))),
      device_plain_(capacity()),
      sealed_(size_with_tags(capacity(), {})),
      opened_(capacity()),
      scratch_(capacity() / segment_bytes * segment_scratch),
      sums_(capacity() / alignment * sizeof(SegmentSums)),
      first_bad_(capacity() / segment_bytes * sizeof(std::uint32_t)) {
  check(cudaMemcpy(device_plain_.data(), plain_.data(), capacity(), cudaMemcpyHostToDevice));
  check(cudaMemset(first_bad_.data(), 0xff, first_bad_.size()));
  check(cudaMemset(sums_.data(), 0, sums_.size()));
  check(cudaDeviceSynchronize());
}

void BenchData::skip_large(std::vector<std::size_t>& sizes, const Report& report) {
  std::size_t free, total;
  check(cudaMemGetInfo(&free, &total));
  const std::size_t most = free / 5;  // the buffers are a little more than four times as large
  std::erase_if(sizes, [&](std::size_t size) {
    const bool fits = std::max(size, min_bytes) <= most;
    if (!fits) report.skip(fmt::format("{} bytes: only {} MiB of device memory is free", size, free >> 20));
    return !fits;
  });
  if (sizes.empty()) throw LaneError("the device does not have enough memory for launches of that size");
}

std::size_t BenchData::stride(Operation mode, std::size_t size) {
  return round_up(size, mode == Operation::ctr ? 16 : alignment);
}

BenchData::Piece BenchData::piece(Operation mode, std::size_t at, std::size_t size,
                                  const SegmentRules& rules) const {
  const std::size_t segment = at / segment_bytes;
  Piece piece{.in = device_plain_.data() + at,
              .out = sealed_.data() + at,
              .in_bytes = size,
              .out_bytes = size,
              .scratch = scratch_.data() + segment * segment_scratch,
              .sums = reinterpret_cast<SegmentSums*>(sums_.data()) + at / alignment,
              .first_bad = reinterpret_cast<std::uint32_t*>(first_bad_.data()) + segment,
              .at = at,
              .size = size};
  if (mode == Operation::ctr) return piece;
  piece.out = sealed_.data() + at / rules.plain_bytes * rules.sealed_bytes();
  piece.out_bytes = size_with_tags(size, rules);
  if (mode == Operation::seal) return piece;
  piece.in = std::exchange(piece.out, opened_.data() + at);
  piece.in_bytes = std::exchange(piece.out_bytes, size);
  return piece;
}

BenchData::Piece BenchData::next(Operation mode, std::size_t size, const SegmentRules& rules) {
  const std::size_t distance = stride(mode, size);
  std::size_t at = round_up(next_, distance);
  if (at + distance > capacity()) at = 0;
  next_ = at + distance;
  return piece(mode, at, size, rules);
}

bool BenchData::all_opened() {
  const std::vector<std::byte> bad = copy_of(first_bad_.data(), first_bad_.size());
  check(cudaMemset(first_bad_.data(), 0xff, first_bad_.size()));
  check(cudaDeviceSynchronize());
  return std::ranges::all_of(bad, [](std::byte byte) { return byte == std::byte{0xff}; });
}

std::vector<std::byte> copy_of(const std::byte* device, std::size_t size) {
  std::vector<std::byte> bytes(size);
  check(cudaMemcpy(bytes.data(), device, size, cudaMemcpyDeviceToHost));
  return bytes;
}

}  // namespace gpuaes::cuda
