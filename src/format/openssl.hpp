// What `openssl enc -aes-N-ctr -pbkdf2 [-iter N]` writes and reads: "Salted__", 8 bytes of salt, and CTR mode
// under a key and a first counter block that PBKDF2 with HMAC-SHA-256 makes of a passphrase (openssl-enc(1)).
// Nothing in it can tell a wrong passphrase from a right one.
#pragma once

#include <string_view>

#include "format/format.hpp"

namespace gpuaes {

inline constexpr std::string_view openssl_magic = "Salted__";

// Needs a passphrase. UsageError for a key, IoError and AuthError for what is no such input.
std::unique_ptr<Session> open_openssl(SessionRequest request);

}  // namespace gpuaes
