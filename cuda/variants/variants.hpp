// AES and Kuznyechik by table lookup in the ways that have been tried on GPUs, for comparison in the bench.
// The filter must not use them: memory addresses depend on key and data, the round keys are kernel
// parameters, whose copies cannot all be wiped, and ECB reveals which blocks are equal.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cipher/ciphers.hpp"
#include "cipher/modes/ctr.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {

struct VariantTables;  // arguments.hpp

enum class Mode { ctr, ecb_encrypt, ecb_decrypt };

enum class Lookup { sbox, one_ttable, four_ttables, ls_tables };

enum class TableMemory { constant, global, texture, shared, banks };

struct Variant {
  std::string_view name;
  std::string_view about;
  Lookup lookup;
  TableMemory memory;          // of the tables
  unsigned threads_per_block;  // that share a cipher block: 1, 4 or 16
  unsigned shared_bytes;       // for tables, per CUDA block
  // Null if there is no kernel for that number of cipher blocks per thread.
  const void* (*kernel)(Mode mode, unsigned blocks_per_thread);

  Family family() const { return lookup == Lookup::ls_tables ? Family::kuznyechik : Family::aes; }
  bool is_for(Cipher cipher) const { return info(cipher).family == family(); }
};

// All variants in order of memory: constant, global, texture, shared, and shared with a copy in each bank.
std::span<const Variant> variants();

// UsageError if no variant has that name.
const Variant& find_variant(std::string_view name);

// The numbers of cipher blocks that a thread can process together: 1 and, if threads do not share blocks, up
// to 16 for AES or 4 for Kuznyechik.
std::span<const unsigned> blocks_per_thread(const Variant& variant);

struct LaunchShape {
  unsigned threads = 256;          // in a CUDA block: 32 to 1024, a power of two
  unsigned blocks_per_thread = 1;  // cipher blocks processed together
  bool grid_stride = true;         // CUDA blocks loop over the data; otherwise the grid covers the data
  unsigned cuda_blocks = 0;        // with grid_stride; 0: as many as fit on the device
};

inline constexpr std::size_t max_key_words = 60;  // AES-256 has the most words

// The resources that a kernel uses in a shape.
struct KernelUse {
  int registers;             // per thread
  std::size_t local_bytes;   // per thread: registers spilled to local memory
  std::size_t shared_bytes;  // per CUDA block
  int resident;              // CUDA blocks that fit on a multiprocessor
};

// A variant with a key and a shape, ready to launch on the current device.
class VariantKernel {
 public:
  // UsageError if the variant is for another cipher or does not support the shape, LaneError if the device
  // does not.
  VariantKernel(const Variant& variant, Mode mode, const CipherKey& key, const LaunchShape& shape);
  VariantKernel(const VariantKernel&) = delete;
  VariantKernel& operator=(const VariantKernel&) = delete;
  // All launches must have ended.
  ~VariantKernel();

  // Enqueues on `stream`. Memory as in kernels.hpp: aligned to 16 bytes, readable and writable up to the next
  // multiple of 16; `in` and `out` are the same or do not overlap. In CTR mode `size` is arbitrary and
  // `counter` is that of the first block; in ECB mode `size` is a multiple of 16 (UsageError).
  void launch(Counter counter, const std::byte* in, std::byte* out, std::size_t size,
              cudaStream_t stream) const;

  const KernelUse& use() const noexcept { return use_; }

 private:
  const VariantTables* device_tables() const;

  std::string_view name_;
  Mode mode_;
  std::array<std::uint32_t, max_key_words> keys_;  // for the mode's direction
  int rounds_;                                     // for AES
  LaunchShape shape_;
  unsigned tile_blocks_;  // cipher blocks that a CUDA block processes together
  const void* kernel_;
  unsigned shared_bytes_;  // for tables
  KernelUse use_;
  DeviceBuffer tables_;
  cudaTextureObject_t texture_ = 0;
};

}  // namespace gpuaes::cuda
