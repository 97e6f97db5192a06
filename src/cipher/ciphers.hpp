// The list of ciphers, and the key of one.
//
// To add a cipher: its header beside this file, its name and sizes here, and its case in every lane that can
// do it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "keys/secret.hpp"

namespace gpuaes {

enum class Cipher { aes_128, aes_192, aes_256, kuznyechik };

struct CipherInfo {
  Cipher cipher;
  std::string_view name;  // as -c takes it
  std::size_t key_bytes;
  std::size_t iv_bytes;  // of counter mode alone: what the first counter block begins with, before zeros
};

// Where the length of a key decides, the first that has it is meant.
inline constexpr std::array ciphers{
    CipherInfo{Cipher::aes_128, "aes-128", 16, 16},
    CipherInfo{Cipher::aes_192, "aes-192", 24, 16},
    CipherInfo{Cipher::aes_256, "aes-256", 32, 16},
    CipherInfo{Cipher::kuznyechik, "kuznyechik", 32, 8},
};

constexpr const CipherInfo& info(Cipher cipher) {
  return ciphers[static_cast<std::size_t>(cipher)];
}

constexpr bool is_aes(Cipher cipher) {
  return cipher != Cipher::kuznyechik;
}

constexpr std::optional<Cipher> find_cipher(std::string_view name) {
  for (const CipherInfo& each : ciphers)
    if (each.name == name) return each.cipher;
  return std::nullopt;
}

// A key of exactly info(cipher).key_bytes bytes.
struct CipherKey {
  Cipher cipher;
  Secret bytes;
};

}  // namespace gpuaes
