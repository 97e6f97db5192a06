// The data in device memory that kernel benches work on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/cuda_requests.hpp"
#include "bench/limits.hpp"
#include "bench/report.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {

// The sealed size of `size` bytes of plaintext.
std::size_t sealed_size(std::size_t size);

// Device memory for all measurements, allocated once. The data is random because some devices process zeros
// faster. Consecutive pieces cycle through all of the memory, which is larger than a device's caches.
class BenchData {
 public:
  static constexpr std::size_t min_bytes = std::size_t{256} << 20;

  // For pieces of up to `size` bytes. LaneError; if the device is out of memory, cudaErrorMemoryAllocation
  // is left as the last error.
  explicit BenchData(std::size_t size);

  std::size_t capacity() const { return capacity_; }  // bytes of plaintext

  // Device memory for the plaintext at offset `at`, a multiple of stride(), and for the outputs made from it.
  struct Piece {
    std::byte* plain;
    std::byte* sealed;  // in modes without segments the output, which has no tags
    std::byte* opened;
    std::byte* scratch;  // for kernels of modes with segments
    std::uint32_t* first_bad;
    std::size_t at;
    std::size_t size;
  };
  Piece piece(KernelMode mode, std::size_t at, std::size_t size) const;

  // The next piece; after the last one, the first.
  Piece next(KernelMode mode, std::size_t size);
  void begin_round() { next_ = 0; }

  // The distance between pieces of `size` bytes, and how many of them there are.
  static std::size_t stride(KernelMode mode, std::size_t size);
  std::size_t pieces(KernelMode mode, std::size_t size) const { return capacity_ / stride(mode, size); }

  // Whether all tags opened since the last call were right.
  bool all_opened();

  const std::vector<std::byte>& plain() const { return plain_; }
  DeviceLimits limits() const;  // of the device, measured with this memory

 private:
  std::size_t capacity_;
  std::vector<std::byte> plain_;
  DeviceBuffer device_plain_, sealed_, opened_, scratch_, first_bad_;
  std::size_t next_ = 0;
};

// Data for the largest of the sizes that fit into device memory. Larger sizes are reported as skipped and
// removed from `sizes`. Null if none fits.
std::unique_ptr<BenchData> make_data(std::vector<std::size_t>& sizes, const Report& report);

// The input and output of a mode for a piece.
struct InOut {
  std::byte *in, *out;
  std::size_t in_bytes, out_bytes;
};
InOut in_out_of(KernelMode mode, const BenchData::Piece& piece);

// A copy of device memory.
std::vector<std::byte> copy_of(const std::byte* device, std::size_t size);

}  // namespace gpuaes::cuda
