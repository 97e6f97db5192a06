// What libcrypto's files share.
#pragma once

#include <openssl/err.h>

#include <cstddef>
#include <string>

namespace gpuaes {

// What to say of a call that failed; leaves no error of it behind for the next one.
inline std::string libcrypto_failure(const char* call) {
  const char* const reason = ERR_reason_error_string(ERR_peek_error());
  std::string text = std::string("libcrypto: ") + call + ": " + (reason != nullptr ? reason : "failed");
  ERR_clear_error();
  return text;
}

inline const unsigned char* octets(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}
inline unsigned char* octets(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

}  // namespace gpuaes
