// The kernels that gpuaes-bench measures, and their names.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/benches.hpp"
#include "bench/cost.hpp"
#include "bench/data.hpp"
#include "device_key.hpp"
#include "variants/variants.hpp"

namespace gpuaes::cuda {

// The filter's kernel for block ciphers or for ChaCha20, or one to compare it with: the table kernel or a
// variant.
struct Subject {
  std::string_view name;
  bool in_filter;
  const Variant* variant = nullptr;  // if it is one

  bool can(Cipher cipher, Operation mode) const;
  bool chooses_shape() const { return variant == nullptr; }  // unless a KernelShape sets it
  KernelFacts facts(Cipher cipher, Operation mode) const;    // if it chooses its shape
  // Numbers of cipher blocks per thread; 0 if the kernel chooses.
  std::vector<unsigned> blocks_per_thread() const;
  // Of one cipher block, for all threads that work on it. Only unavoidable work counts, so no kernel is
  // faster than its limit.
  Operations cost(Cipher cipher, Operation mode) const;
};

// The subjects that match any of the names, in the order of the list. UsageError if a name matches none, or
// if none of the matches supports any of the ciphers in any of the modes.
std::vector<Subject> choose_subjects(const KernelRequest& request);

// A key on the device, as lanes use it.
struct BenchKey {
  explicit BenchKey(CipherKey bytes) : key(std::move(bytes)) { on_device.set(key, Stream()); }
  explicit BenchKey(Cipher cipher);  // random

  CipherKey key;
  PinnedSecret host{sizeof(ExpandedKey)};
  DeviceBuffer device{sizeof(ExpandedKey)};
  DeviceKey on_device{reinterpret_cast<ExpandedKey*>(host.data()),
                      reinterpret_cast<ExpandedKey*>(device.data())};
};

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
  // UsageError if the kernel does not support the shape, LaneError if the device does not.
  BenchKernel(const Subject& subject, Operation mode, const BenchKey& key, const KernelShape& shape = {});

  void launch(const BenchData::Piece& piece, const Stream& stream) const;

  Operation mode() const { return mode_; }
  const CipherKey& key() const { return key_.key; }
  const SegmentRules& rules() const { return info(key_.key.cipher).segments; }
  const KernelShape& shape() const { return shape_; }
  std::string name() const;  // with its mode, cipher and shape
  const KernelUse& use() const { return use_; }
  unsigned resident_warps() const { return static_cast<unsigned>(use_.resident) * threads_ / 32; }

 private:
  Subject subject_;
  Operation mode_;
  const BenchKey& key_;
  KernelShape shape_;
  std::unique_ptr<VariantKernel> variant_;
  unsigned threads_;
  KernelUse use_;
};

}  // namespace gpuaes::cuda
