// Helpers for code that calls libcrypto.
#pragma once

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <cstddef>
#include <memory>
#include <string>

namespace gpuaes {

// The message for a failed call. Clears libcrypto's error queue.
inline std::string libcrypto_failure(const char* call) {
  const char* const reason = ERR_reason_error_string(ERR_peek_error());
  std::string failure = fmt::format("libcrypto: {}: {}", call, reason != nullptr ? reason : "unknown reason");
  ERR_clear_error();
  return failure;
}

template <class Failure>
void check_libcrypto(bool good, const char* call) {
  if (!good) throw Failure(libcrypto_failure(call));
}

// Freeing a context also wipes it.
struct FreeCipherContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeCipherContext>;

inline const unsigned char* octets(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}
inline unsigned char* octets(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

}  // namespace gpuaes
