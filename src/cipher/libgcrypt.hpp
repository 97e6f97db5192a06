// Ciphers of libgcrypt, GnuPG's library, which is faster than libcrypto on some CPUs. It is loaded at run
// time if it is installed.
#pragma once

#include <memory>
#include <string>

#include "cipher/cpu_cipher.hpp"

namespace gpuaes {

// The version of libgcrypt. Empty if it cannot be used: not installed, older than 1.10, in FIPS mode,
// libcrypto uses another provider than its default one, or the program runs with more privileges than its
// caller. The first call loads it.
const std::string& libgcrypt_version();

// As make_cpu_cipher(). Null if libgcrypt cannot be used or does not have the cipher, or if it would not be
// constant-time on this CPU. It tests itself with the first key for each algorithm. Keys are in its own
// memory, which is locked if the limit allows, and has room for two lanes per CPU; LaneError if that is full,
// or if libgcrypt fails.
std::unique_ptr<CpuCipher> make_libgcrypt_cipher(const Job& job);

}  // namespace gpuaes
