// AES and Kuznyechik by lookup in the many ways in which they have been tried on GPUs, side by side for the
// bench. Never for the filter: the addresses depend on key and data, round keys are kernel parameters, of
// which nobody can wipe all copies, and ECB shows which blocks are equal.
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
  TableMemory memory;          // that tables are in
  unsigned threads_per_block;  // that have one cipher block together: 1, 4 or 16
  unsigned shared_bytes;       // of tables, for each CUDA block
  // Null where there is none for so many cipher blocks a thread.
  const void* (*kernel)(Mode mode, unsigned blocks_per_thread);

  Family family() const { return lookup == Lookup::ls_tables ? Family::kuznyechik : Family::aes; }
  bool is_for(Cipher cipher) const { return info(cipher).family == family(); }
};

// All there are, by memory: constant, global, texture, shared, shared and replicated over the banks.
std::span<const Variant> variants();

// UsageError where there is none of that name.
const Variant& find_variant(std::string_view name);

// How many cipher blocks a thread of it can do side by side: 1, and where no others share a block with it up
// to 16 of AES, and up to 4 of Kuznyechik.
std::span<const unsigned> blocks_per_thread(const Variant& variant);

struct LaunchShape {
  unsigned threads = 256;          // of a CUDA block: 32 to 1024, a power of two
  unsigned blocks_per_thread = 1;  // cipher blocks side by side
  bool grid_stride = true;         // threads go on until all is done; otherwise the grid covers the data
  unsigned cuda_blocks = 0;        // with grid_stride; 0: as many as the device holds at a time
};

inline constexpr std::size_t max_key_words = 60;  // of round keys: those of AES-256

// What the compiler and the device make of a kernel in a shape.
struct KernelUse {
  int registers;             // of a thread
  std::size_t local_bytes;   // of a thread: what did not fit into registers
  std::size_t shared_bytes;  // of a CUDA block
  int resident;              // CUDA blocks on a multiprocessor at a time
};

// A variant with a key and in a shape, ready to be launched on the device that is current.
class VariantKernel {
 public:
  // UsageError where the variant is for another cipher, or cannot have that shape; LaneError where the device
  // cannot.
  VariantKernel(const Variant& variant, Mode mode, const CipherKey& key, const LaunchShape& shape);
  VariantKernel(const VariantKernel&) = delete;
  VariantKernel& operator=(const VariantKernel&) = delete;
  // No launch may still be running.
  ~VariantKernel();

  // Enqueues on `stream`. Memory as in kernels.hpp: aligned to 16 bytes, readable and writable up to the next
  // multiple of 16; `in` and `out` the same, or apart. `size`: any in CTR mode, whole blocks in ECB
  // (UsageError). `counter`: of the first block, in CTR mode.
  void launch(Counter counter, const std::byte* in, std::byte* out, std::size_t size,
              cudaStream_t stream) const;

  const KernelUse& use() const noexcept { return use_; }

 private:
  const VariantTables* device_tables() const;

  std::string_view name_;
  Mode mode_;
  std::array<std::uint32_t, max_key_words> keys_;  // as the mode needs them
  int rounds_;                                     // of AES
  LaunchShape shape_;
  unsigned tile_blocks_;  // what a CUDA block does at a time
  const void* kernel_;
  unsigned shared_bytes_;  // of tables
  KernelUse use_;
  DeviceBuffer tables_;
  cudaTextureObject_t texture_ = 0;
};

}  // namespace gpuaes::cuda
