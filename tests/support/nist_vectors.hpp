// NIST's AES response files, which Debian's python3-cryptography-vectors installs.
#pragma once

#include <filesystem>

#include "support/catch.hpp"

namespace gpuaes {

inline const std::filesystem::path nist_aes_vectors =
    "/usr/lib/python3/dist-packages/cryptography_vectors/ciphers/AES";

// Skips the test case if they are not here.
inline bool have_nist_vectors() {
  if (std::filesystem::exists(nist_aes_vectors)) return true;
  skip("no " + nist_aes_vectors.string() + "; Debian's python3-cryptography-vectors provides it");
  return false;
}

}  // namespace gpuaes
