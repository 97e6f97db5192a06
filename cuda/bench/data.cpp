#include "bench/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "cipher/modes/segments.hpp"
#include "kernels/kernels.hpp"

namespace gpuaes::cuda {
namespace {

// Also enough for GCM, which needs less.
constexpr std::size_t segment_scratch = mgm_scratch_bytes(0);

constexpr std::size_t round_up(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

std::vector<std::byte> random_bytes(std::size_t size) {
  std::mt19937_64 random(1);
  std::vector<std::byte> bytes(size);
  std::generate_n(reinterpret_cast<std::uint64_t*>(bytes.data()), size / 8, std::ref(random));
  return bytes;
}

}  // namespace

std::size_t sealed_size(std::size_t size) {
  return size + (size + segment_bytes - 1) / segment_bytes * tag_bytes;
}

BenchData::BenchData(std::size_t size)
    : capacity_(round_up(std::max(size, min_bytes), segment_bytes)),
      device_plain_(capacity_),
      sealed_(sealed_size(capacity_)),
      opened_(capacity_),
      scratch_(capacity_ / segment_bytes * segment_scratch),
      first_bad_(capacity_ / segment_bytes * sizeof(std::uint32_t)) {
  plain_ = random_bytes(capacity_);
  check(cudaMemcpy(device_plain_.data(), plain_.data(), capacity_, cudaMemcpyHostToDevice));
  check(cudaMemset(first_bad_.data(), 0xff, first_bad_.size()));
  check(cudaDeviceSynchronize());
}

std::unique_ptr<BenchData> make_data(std::vector<std::size_t>& sizes, const Report& report) {
  while (!sizes.empty()) {
    const auto largest = std::ranges::max_element(sizes);
    try {
      return std::make_unique<BenchData>(*largest);
    } catch (const LaneError& error) {
      if (cudaGetLastError() != cudaErrorMemoryAllocation) throw;
      report.skip(fmt::format("{} bytes: {}", *largest, error.what()));
      sizes.erase(largest);
    }
  }
  return nullptr;
}

std::size_t BenchData::stride(KernelMode mode, std::size_t size) {
  return round_up(size, is_aead(mode) ? segment_bytes : 16);
}

BenchData::Piece BenchData::piece(KernelMode mode, std::size_t at, std::size_t size) const {
  const std::size_t segment = at / segment_bytes;
  return {.plain = device_plain_.data() + at,
          .sealed = sealed_.data() + (is_aead(mode) ? segment * sealed_segment_bytes : at),
          .opened = opened_.data() + at,
          .scratch = scratch_.data() + segment * segment_scratch,
          .first_bad = reinterpret_cast<std::uint32_t*>(first_bad_.data()) + segment,
          .at = at,
          .size = size};
}

BenchData::Piece BenchData::next(KernelMode mode, std::size_t size) {
  const std::size_t distance = stride(mode, size);
  std::size_t at = round_up(next_, distance);
  if (at + distance > capacity_) at = 0;
  next_ = at + distance;
  return piece(mode, at, size);
}

bool BenchData::all_opened() {
  const std::vector<std::byte> bad = copy_of(first_bad_.data(), first_bad_.size());
  check(cudaMemset(first_bad_.data(), 0xff, first_bad_.size()));
  check(cudaDeviceSynchronize());
  return std::ranges::all_of(bad, [](std::byte byte) { return byte == std::byte{0xff}; });
}

DeviceLimits BenchData::limits() const {
  return measure_limits(device_plain_.data(), opened_.data(), capacity_);
}

InOut in_out_of(KernelMode mode, const BenchData::Piece& piece) {
  const std::size_t sealed_bytes = is_aead(mode) ? sealed_size(piece.size) : piece.size;
  if (mode == KernelMode::open) return {piece.sealed, piece.opened, sealed_bytes, piece.size};
  return {piece.plain, piece.sealed, piece.size, sealed_bytes};
}

std::vector<std::byte> copy_of(const std::byte* device, std::size_t size) {
  std::vector<std::byte> bytes(size);
  check(cudaMemcpy(bytes.data(), device, size, cudaMemcpyDeviceToHost));
  return bytes;
}

}  // namespace gpuaes::cuda
