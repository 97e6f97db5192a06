// Helpers for code that calls libcrypto.
#pragma once

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>

#include "base/error.hpp"

namespace gpuaes {

// What to do about an error of libcrypto. Some functions report none if there is no memory.
inline Hint hint_for_libcrypto(unsigned long error) {
  const int reason = ERR_GET_REASON(error);
  if (error == 0 || reason == ERR_R_MALLOC_FAILURE) return Advice::raise_memory_limit;
  return reason == ERR_R_UNSUPPORTED
             ? "activate the default provider in openssl.cnf, or set OPENSSL_CONF=/dev/null"
             : "";
}

// Clears libcrypto's error queue if the call has failed.
template <class Failure = IoError>
void check_call(bool good, const char* call) {
  if (good) return;
  const unsigned long error = ERR_peek_error();
  const char* const reason = ERR_reason_error_string(error);
  ERR_clear_error();
  throw Failure(fmt::format("libcrypto: {}: {}", call, reason != nullptr ? reason : "unknown reason"),
                hint_for_libcrypto(error));
}

template <auto free>
struct FreeWith {
  void operator()(auto* object) const { free(object); }
};

using EvpCipher = std::unique_ptr<EVP_CIPHER, FreeWith<EVP_CIPHER_free>>;

// Freeing any of these also wipes it.
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeWith<EVP_CIPHER_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreeWith<EVP_MD_CTX_free>>;
using EvpKey = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;
using EvpKeyContext = std::unique_ptr<EVP_PKEY_CTX, FreeWith<EVP_PKEY_CTX_free>>;

using BigNumber = std::unique_ptr<BIGNUM, FreeWith<BN_free>>;

inline BigNumber make_number(unsigned value = 0) {
  BigNumber number(BN_new());
  check_call(number != nullptr && BN_set_word(number.get(), value) == 1, "BN_set_word");
  return number;
}

// The const_cast is safe because libcrypto only reads the value. A null pointer is not accepted, even for an
// empty value.
inline OSSL_PARAM octet_parameter(const char* name, std::span<const std::byte> value) {
  static std::byte nothing;
  void* const data = value.empty() ? &nothing : const_cast<std::byte*>(value.data());
  return OSSL_PARAM_construct_octet_string(name, data, value.size());
}

// The cipher with that name.
template <class Failure>
EvpCipher fetch_cipher(const char* name) {
  EvpCipher cipher(EVP_CIPHER_fetch(nullptr, name, nullptr));
  check_call<Failure>(cipher != nullptr, "EVP_CIPHER_fetch");
  return cipher;
}

inline const unsigned char* octets(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}
inline unsigned char* octets(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

// A digest context that has processed these parts in order; the caller finishes it.
inline DigestContext digest_of(const EVP_MD* type, std::initializer_list<std::span<const std::byte>> parts) {
  DigestContext context(EVP_MD_CTX_new());
  check_call(context != nullptr, "EVP_MD_CTX_new");
  check_call(EVP_DigestInit_ex(context.get(), type, nullptr) == 1, "EVP_DigestInit_ex");
  for (const std::span<const std::byte> part : parts)
    check_call(EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1, "EVP_DigestUpdate");
  return context;
}

}  // namespace gpuaes
