// The key of GHASH in AES-GCM (NIST SP 800-38D, section 7).
#pragma once

#include <cstddef>
#include <span>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/block.hpp"
#include "cipher/modes/ghash.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// H (section 7.1, step 1): the encrypted zero block. As secret as the key.
inline ghash::Element hash_key(const aes::RoundKeys& keys) {
  aes::Block h = aes::encrypt(keys, {});
  const ghash::Element element = ghash::load(h.words);
  wipe(std::as_writable_bytes(std::span(h.words)));
  return element;
}

}  // namespace gpuaes
