// The cipher of a session, by its name or by the length of the key.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/texts.hpp"
#include "cipher/ciphers.hpp"
#include "keys/key.hpp"

namespace gpuaes {

// The named one, or that of the key's length; UsageError where they do not fit.
inline Cipher choose_cipher(std::optional<Cipher> named, const GivenKey& key) {
  for (const CipherInfo& each : ciphers)
    if (each.key_bytes == key.size() && each.cipher == named.value_or(each.cipher)) return each.cipher;
  const CipherInfo& wanted = info(named.value_or(Cipher::aes_256));
  throw UsageError(fmt::format(text::key_length, wanted.name, wanted.key_bytes, key.name, key.size()));
}

// For formats that have AES alone.
inline void refuse_all_but_aes(std::optional<Cipher> named, std::string_view format) {
  if (named && !is_aes(*named))
    throw UsageError(fmt::format(text::aes_alone, format, info(*named).name), text::kuznyechik_hint);
}

}  // namespace gpuaes
