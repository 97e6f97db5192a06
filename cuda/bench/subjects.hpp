// The kernels that gpuaes-bench measures, and their names.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/benches.hpp"
#include "bench/cost.hpp"
#include "bench/data.hpp"
#include "bench/variants.hpp"
#include "device_key.hpp"

namespace gpuaes::cuda {

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

struct Launch {
  Operation mode;
  const BenchKey& key;
  const BenchData::Piece& piece;
  cudaStream_t stream;
};

// What runs a family of ciphers.
struct FamilyKernel {
  Family family;
  KernelFacts (*ctr)(Cipher cipher);   // null if it does not have the mode
  KernelFacts (*aead)(Cipher cipher);  // likewise
  Operations (*cost)(Cipher cipher, Operation mode);
  void (*launch)(const Launch& launch);

  auto* facts(Operation mode) const { return mode == Operation::ctr ? ctr : aead; }
};

// One of the filter's kernels, or one to compare them with: the table kernel or a variant.
struct Subject {
  std::string_view name;
  std::span<const FamilyKernel> kernels;  // of a variant: none
  const Variant* variant = nullptr;       // if it is one

  bool can(Cipher cipher, Operation mode) const;
  bool chooses_shape() const { return variant == nullptr; }
  const FamilyKernel* kernel_for(Cipher cipher) const;  // or null
  // Numbers of cipher blocks per thread; 0 if the kernel chooses.
  std::vector<unsigned> blocks_per_thread() const;
  Operations cost(Cipher cipher, Operation mode) const;
};

// The subjects that match any of the names, in the order of the list. UsageError if a name matches none, or
// if none of the matches supports any of the ciphers in any of the modes.
std::vector<Subject> choose_subjects(const KernelRequest& request);

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
  // `blocks_per_thread` is one that the subject lists. LaneError if the device cannot run it.
  BenchKernel(const Subject& subject, Operation mode, const BenchKey& key, unsigned blocks_per_thread = 0);

  void launch(const BenchData::Piece& piece, const Stream& stream) const;

  Operation mode() const { return mode_; }
  const CipherKey& key() const { return key_.key; }
  const SegmentRules& rules() const { return info(key_.key.cipher).segments; }
  unsigned blocks_per_thread() const { return blocks_per_thread_; }  // 0: the kernel chose
  std::string name() const;                                          // with its mode and cipher
  const KernelUse& use() const { return use_; }
  unsigned resident_warps() const { return static_cast<unsigned>(use_.resident) * threads_ / 32; }

 private:
  Subject subject_;
  Operation mode_;
  const BenchKey& key_;
  unsigned blocks_per_thread_;
  std::unique_ptr<VariantKernel> variant_;
  unsigned threads_;
  KernelUse use_;
};

}  // namespace gpuaes::cuda
