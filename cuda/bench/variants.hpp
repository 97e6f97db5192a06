// Counter mode by table lookup in the ways that have been tried on GPUs, for comparison in the bench. The
// filter must not use them: memory addresses depend on key and data, and the round keys are kernel
// parameters, whose copies cannot all be wiped.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "cipher/ciphers.hpp"
#include "cipher/modes/ctr.hpp"
#include "kernels/kernels.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {

struct VariantTables;  // variant_arguments.hpp

enum class Lookup { sbox, one_ttable, four_ttables, ls_tables };

enum class TableMemory { constant, global, texture, shared, banks };

struct Variant {
  std::string name;
  Lookup lookup;
  TableMemory memory;                       // of the tables
  unsigned threads_per_block;               // that share a cipher block: 1, 4 or 16
  unsigned shared_bytes;                    // for tables, per CUDA block
  std::map<unsigned, const void*> kernels;  // by the number of cipher blocks that a thread processes together

  bool is_for(Cipher cipher) const {
    return info(cipher).family == (lookup == Lookup::ls_tables ? Family::kuznyechik : Family::aes);
  }
};

// All variants in order of memory: constant, global, texture, shared, and shared with a copy in each bank.
std::span<const Variant> variants();

inline constexpr std::size_t max_key_words = 60;  // AES-256 has the most words

// The resources that a kernel uses in a shape.
struct KernelUse {
  int registers;            // per thread
  std::size_t local_bytes;  // per thread: registers spilled to local memory
  int resident;             // CUDA blocks that fit on a multiprocessor
};

// Allows the kernel that much dynamic shared memory. LaneError if the current device cannot run it.
KernelUse prepare_kernel(const void* kernel, unsigned threads, unsigned shared_bytes);

inline constexpr unsigned variant_threads = 256;  // in a CUDA block

// A variant with a key, ready to launch on the current device.
class VariantKernel {
 public:
  // `blocks_per_thread` is one of the variant's, which is for the key's cipher. The grid has as many CUDA
  // blocks as fit on the device, or `cuda_blocks`, which is for tests, and loops over the data. LaneError if
  // the device cannot run it.
  VariantKernel(const Variant& variant, const CipherKey& key, unsigned blocks_per_thread,
                unsigned cuda_blocks = 0);
  VariantKernel(const VariantKernel&) = delete;
  VariantKernel& operator=(const VariantKernel&) = delete;
  // All launches must have ended.
  ~VariantKernel();

  // Enqueues on `stream`. Memory as in kernels.hpp; `in` and `out` are the same or do not overlap. `counter`
  // is that of the first block.
  void launch(Counter counter, const std::byte* in, std::byte* out, std::size_t size,
              cudaStream_t stream) const;

  const KernelUse& use() const noexcept { return use_; }

 private:
  const VariantTables* device_tables() const;

  std::array<std::uint32_t, max_key_words> keys_;
  int rounds_;            // for AES
  unsigned tile_blocks_;  // cipher blocks that a CUDA block processes together
  const void* kernel_;
  unsigned shared_bytes_;  // for tables
  KernelUse use_;
  unsigned cuda_blocks_;
  DeviceBuffer tables_;
  cudaTextureObject_t texture_ = 0;
};

}  // namespace gpuaes::cuda
