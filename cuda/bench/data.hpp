// The data that the benches of kernels work on, in device memory.
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

// Bytes of `size` bytes of plaintext once they are sealed.
std::size_t sealed_size(std::size_t size);

// Memory of the device for all that is measured, made once. What is worked on is random, never zeros, which
// some devices process faster; and pieces go round all of it, which is more than the caches of devices hold.
class BenchData {
 public:
  static constexpr std::size_t min_bytes = std::size_t{256} << 20;

  // Room for pieces of up to `size` bytes. LaneError, with cudaErrorMemoryAllocation left as the last error
  // where the device has no room.
  explicit BenchData(std::size_t size);

  std::size_t capacity() const { return capacity_; }  // of plaintext

  // Where a piece of plaintext is that begins at `at`, a multiple of stride(); or what becomes of it.
  struct Piece {
    std::byte* plain;
    std::byte* sealed;  // in modes without segments the output, without tags
    std::byte* opened;
    std::byte* scratch;  // that kernels need for a mode with segments
    std::uint32_t* first_bad;
    std::size_t at;
    std::size_t size;
  };
  Piece piece(KernelMode mode, std::size_t at, std::size_t size) const;

  // The next piece, in rounds over all of the data.
  Piece next(KernelMode mode, std::size_t size);
  void begin_round() { next_ = 0; }

  // How far pieces of that size are apart, and how many of them there are.
  static std::size_t stride(KernelMode mode, std::size_t size);
  std::size_t pieces(KernelMode mode, std::size_t size) const { return capacity_ / stride(mode, size); }

  // Whether all tags opened since the last call were right.
  bool all_opened();

  const std::vector<std::byte>& plain() const { return plain_; }
  DeviceLimits limits() const;  // of the device, with this memory

 private:
  std::size_t capacity_;
  std::vector<std::byte> plain_;
  DeviceBuffer device_plain_, sealed_, opened_, scratch_, first_bad_;
  std::size_t next_ = 0;
};

// Data for the largest of the sizes that the device has room for. Larger ones are skipped and removed from
// `sizes`; null if none is left.
std::unique_ptr<BenchData> make_data(std::vector<std::size_t>& sizes, const Report& report);

// What a mode reads and writes of a piece.
struct InOut {
  std::byte *in, *out;
  std::size_t in_bytes, out_bytes;
};
InOut in_out_of(KernelMode mode, const BenchData::Piece& piece);

// What is in device memory.
std::vector<std::byte> copy_of(const std::byte* device, std::size_t size);

}  // namespace gpuaes::cuda
