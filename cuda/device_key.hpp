// A cipher key in device memory, expanded for the kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.hpp"
#include "cipher/aes/aes.hpp"
#include "cipher/ciphers.hpp"
#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/gcm.hpp"
#include "kernels/kernels.hpp"
#include "keys/secret.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {

// Pinned for all devices, or not at all if the system refuses.
inline PinnedRegion try_pin(std::span<std::byte> memory) {
  try {
    return PinnedRegion(memory);
  } catch (const LaneError&) {
    cudaGetLastError();  // otherwise the runtime reports the error after the next launch
    return {};
  }
}

// A T in pinned host memory for copies to and from the device; wiped on destruction.
template <class T>
class HostCopy {
 public:
  T& operator*() const { return *reinterpret_cast<T*>(memory_.data()); }
  T* operator->() const { return &**this; }
  void wipe() { gpuaes::wipe(memory_); }

 private:
  Secret secret_{sizeof(T)};
  std::span<std::byte> memory_{secret_.bytes()};
  PinnedRegion pinned_{try_pin(memory_)};
};

// One cipher key in device memory, in the form that the kernels need. It is copied from pinned pages, which
// are wiped, because the driver may keep its own copy of pageable memory.
class DeviceKey {
 public:
  DeviceKey() : device_(sizeof(Contents)) {}

  void set(const CipherKey& key, const Stream& stream) {
    expand(key);
    check(cudaMemcpyAsync(device_.data(), &*host_, sizeof(Contents), cudaMemcpyHostToDevice, stream.get()));
    stream.wait();
    host_.wipe();
  }

  AesKey aes(CudaKernel kernel, const KernelShape& shape = {}) const {
    return {contents()->round_keys.data(), rounds_, kernel, shape};
  }
  KuznyechikKey kuznyechik(CudaKernel kernel, const KernelShape& shape = {}) const {
    return {contents()->round_keys.data(), kernel, shape};
  }
  const ghash::Powers* powers() const { return &contents()->powers; }

 private:
  struct Contents {
    decltype(aes::RoundKeys::words) round_keys;  // Kuznyechik uses fewer words
    ghash::Powers powers;                        // for AES only
  };

  void expand(const CipherKey& key) {
    switch (info(key.cipher).family) {
      case Family::aes:
        return expand_aes(key.bytes.bytes());
      case Family::kuznyechik:
        return expand_kuznyechik(key.bytes.bytes());
    }
    refuse_cipher(key.cipher);
  }
  void expand_aes(std::span<const std::byte> key) {
    aes::RoundKeys keys = aes::expand_key(key);
    host_->round_keys = keys.words;
    ghash::make_powers(hash_key(keys), host_->powers);
    rounds_ = keys.rounds;
    wipe(std::as_writable_bytes(std::span(&keys, 1)));
  }
  void expand_kuznyechik(std::span<const std::byte> key) {
    kuznyechik::RoundKeys keys = kuznyechik::expand_key(key);
    static_assert(sizeof keys <= sizeof host_->round_keys);
    std::ranges::copy(std::as_bytes(std::span(keys.of)),
                      std::as_writable_bytes(std::span(host_->round_keys)).begin());
    wipe(std::as_writable_bytes(std::span(keys.of)));
  }

  const Contents* contents() const { return reinterpret_cast<const Contents*>(device_.data()); }

  HostCopy<Contents> host_;
  DeviceBuffer device_;
  int rounds_ = 0;
};

}  // namespace gpuaes::cuda
