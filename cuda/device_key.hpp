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

// A cipher key in the form that the kernels need.
struct ExpandedKey {
  decltype(aes::RoundKeys::words) round_keys;  // the others use fewer words
  ghash::Powers powers;                        // for AES only
};

// Secret host memory, pinned for copies to and from the device. The driver may keep its own copy of memory
// that is not pinned.
class PinnedSecret {
 public:
  explicit PinnedSecret(std::size_t size) : secret_(size), pinned_(try_pin(secret_.bytes())) {}
  std::byte* data() { return secret_.bytes().data(); }

 private:
  Secret secret_;
  PinnedRegion pinned_;
};

// Keeps one key at a time in device memory, at `device`. `host` is in a PinnedSecret and contains the key
// only while it is copied.
class DeviceKey {
 public:
  DeviceKey(ExpandedKey* host, ExpandedKey* device) : host_(host), device_(device) {}

  void set(const CipherKey& key, const Stream& stream) {
    expand(key);
    check(cudaMemcpyAsync(device_, host_, sizeof *host_, cudaMemcpyHostToDevice, stream.get()));
    stream.wait();
    wipe(std::as_writable_bytes(std::span(host_, 1)));
  }

  AesKey aes() const { return {device_->round_keys.data(), rounds_}; }
  KuznyechikKey kuznyechik() const { return {device_->round_keys.data()}; }
  const std::uint32_t* chacha20() const { return device_->round_keys.data(); }
  const ghash::Powers* powers() const { return &device_->powers; }

 private:
  void expand(const CipherKey& key) {
    switch (info(key.cipher).family) {
      case Family::aes:
        return expand_aes(key.bytes.bytes());
      case Family::kuznyechik:
        return expand_kuznyechik(key.bytes.bytes());
      case Family::chacha20:
        return expand_chacha20(key.bytes.bytes());
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

  void expand_chacha20(std::span<const std::byte> key) {
    std::ranges::copy(key, std::as_writable_bytes(std::span(host_->round_keys)).begin());
  }

  ExpandedKey* host_;
  ExpandedKey* device_;
  int rounds_ = 0;
};

}  // namespace gpuaes::cuda
