// The data in device memory that kernel benches work on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/report.hpp"
#include "cipher/job.hpp"
#include "kernels/kernels.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {

// Device memory for all measurements, allocated once. The data is random because some devices process zeros
// faster. Consecutive pieces cycle through all of the memory, which is larger than a device's caches.
class BenchData {
 public:
  // For pieces of up to `size` bytes. LaneError.
  explicit BenchData(std::size_t size = 0);

  // Drops the sizes that do not fit in the device's memory, and reports them as skipped. LaneError if that
  // leaves none.
  static void skip_large(std::vector<std::size_t>& sizes, const Report& report);

  std::size_t capacity() const { return plain_.size(); }  // bytes of plaintext
  const std::vector<std::byte>& plain() const { return plain_; }

  // Device memory for the input of a mode whose plaintext is at offset `at`, a multiple of stride(), and for
  // the output.
  struct Piece {
    std::byte *in, *out;
    std::size_t in_bytes, out_bytes;
    std::byte* scratch;  // for MGM, enough for GCM
    SegmentSums* sums;   // for ChaCha20
    std::uint32_t* first_bad;
    std::size_t at, size;  // of the plaintext
  };
  Piece piece(Operation mode, std::size_t at, std::size_t size, const SegmentRules& rules = {}) const;

  // The next piece; after the last one, the first.
  Piece next(Operation mode, std::size_t size, const SegmentRules& rules = {});
  void begin_round() { next_ = 0; }

  // The distance between pieces of `size` bytes, and how many of them there are.
  static std::size_t stride(Operation mode, std::size_t size);
  std::size_t pieces(Operation mode, std::size_t size) const { return capacity() / stride(mode, size); }

  // Whether all tags opened since the last call were right.
  bool all_opened();

 private:
  std::vector<std::byte> plain_;
  DeviceBuffer device_plain_, sealed_, opened_, scratch_, sums_, first_bad_;
  std::size_t next_ = 0;
};

// A copy of device memory.
std::vector<std::byte> copy_of(const std::byte* device, std::size_t size);

}  // namespace gpuaes::cuda
