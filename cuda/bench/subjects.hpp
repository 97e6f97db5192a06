// The kernels that gpuaes-bench measures, and their names.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/data.hpp"
#include "bench/kernel_cost.hpp"
#include "device_key.hpp"
#include "kernels/kernels.hpp"
#include "variants/variants.hpp"

namespace gpuaes::cuda {

// The filter's kernel, or one to compare it with: the table kernel or a variant.
struct Subject {
  std::string_view name;
  bool in_filter;
  const Variant* variant = nullptr;  // if it is one

  bool can(Cipher cipher, KernelMode mode) const;
  bool chooses_shape() const { return variant == nullptr; }  // unless a KernelShape sets it
  KernelFacts facts(Cipher cipher, KernelMode mode) const;   // if it chooses its shape
  // Numbers of cipher blocks per thread; 0 if the kernel chooses.
  std::vector<unsigned> blocks_per_thread() const;
  KernelCost cost(Cipher cipher, KernelMode mode) const;
};

// The subjects that match any of the names, in the order of the list. UsageError if a name matches none, or
// if none of the matches supports any of the ciphers in any of the modes.
std::vector<Subject> choose_subjects(const KernelRequest& request);

// A key on the device, as lanes use it.
struct BenchKey {
  explicit BenchKey(CipherKey bytes);

  CipherKey key;
  PinnedSecret host{sizeof(ExpandedKey)};
  DeviceBuffer device{sizeof(ExpandedKey)};
  DeviceKey on_device{reinterpret_cast<ExpandedKey*>(host.data()),
                      reinterpret_cast<ExpandedKey*>(device.data())};
};
BenchKey random_key(Cipher cipher);

// The same for all launches.
inline constexpr CounterBlock bench_counter{0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0,
                                            1,    2,    3,    4,    5,    6,    7,    8};
constexpr Nonce bench_nonce(Cipher cipher) {
  Nonce nonce{{}, info(cipher).aead.nonce_bytes};
  for (std::size_t i = 0; i < nonce.size; ++i) nonce.bytes[i] = static_cast<std::uint8_t>(9 - i);
  return nonce;
}

// A subject with a mode and a key, ready to launch. The key must outlive it.
class BenchKernel {
 public:
  // UsageError if the kernel does not support the shape, LaneError if the device does not. `grid_stride`
  // applies to variants, as in LaunchShape.
  BenchKernel(const Subject& subject, KernelMode mode, const BenchKey& key, const KernelShape& shape = {},
              bool grid_stride = true);

  void launch(const BenchData::Piece& piece, const Stream& stream) const;

  KernelMode mode() const { return mode_; }
  const KernelShape& shape() const { return shape_; }
  int registers() const { return use_.registers; }
  std::size_t local_bytes() const { return use_.local_bytes; }
  unsigned resident_warps() const { return static_cast<unsigned>(use_.resident) * threads_ / 32; }

 private:
  void launch_gcm(const BenchData::Piece& piece, cudaStream_t stream) const;
  void launch_mgm(const BenchData::Piece& piece, cudaStream_t stream) const;

  Subject subject_;
  KernelMode mode_;
  const BenchKey& key_;
  KernelShape shape_;
  std::unique_ptr<VariantKernel> variant_;
  KernelUse use_{};
  unsigned threads_;
};

// The number of launches for a run of 256 MiB, at most 1000.
std::size_t launches_of(std::size_t size);

}  // namespace gpuaes::cuda
