// Cipher keys, and counter mode by libcrypto.
#pragma once

#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>

#include "cipher/ciphers.hpp"
#include "cipher/modes/ctr.hpp"
#include "keys/keyring.hpp"
#include "support/bytes.hpp"

namespace gpuaes {

inline Bytes bytes_of(const Secret& secret) {
  return {secret.bytes().begin(), secret.bytes().end()};
}

inline CipherKey make_key(std::span<const std::byte> bytes, Cipher cipher) {
  CipherKey key{cipher, Secret(bytes.size())};
  std::ranges::copy(bytes, key.bytes.bytes().begin());
  return key;
}

// The first cipher with keys of this length.
inline Cipher cipher_of(std::size_t key_bytes) {
  for (const CipherInfo& each : ciphers)
    if (each.key_bytes == key_bytes) return each.cipher;
  throw std::logic_error("no cipher has keys of this length");
}
inline CipherKey make_key(std::span<const std::byte> bytes) {
  return make_key(bytes, cipher_of(bytes.size()));
}

// A key file with these bytes.
inline Key key_file(std::span<const std::byte> bytes) {
  return {.kind = KeyKind::key_file, .secret = std::move(make_key(bytes, Cipher::aes_256).bytes)};
}

// AES-CTR by libcrypto, in one call.
inline Bytes libcrypto_ctr(std::span<const std::byte> key, const CounterBlock& counter,
                           std::span<const std::byte> in) {
  const EVP_CIPHER* const cipher = key.size() == 16   ? EVP_aes_128_ctr()
                                   : key.size() == 24 ? EVP_aes_192_ctr()
                                                      : EVP_aes_256_ctr();
  const std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> context(EVP_CIPHER_CTX_new(),
                                                                           EVP_CIPHER_CTX_free);
  Bytes out(in.size());
  int size = 0;
  if (EVP_EncryptInit_ex2(context.get(), cipher, reinterpret_cast<const unsigned char*>(key.data()),
                          counter.data(), nullptr) != 1 ||
      EVP_EncryptUpdate(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size,
                        reinterpret_cast<const unsigned char*>(in.data()), static_cast<int>(in.size())) != 1)
    throw std::logic_error("libcrypto failed");
  return out;
}

}  // namespace gpuaes
