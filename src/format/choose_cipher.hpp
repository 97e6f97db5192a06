// The cipher of a session, by its name or by the length of the key.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include "cipher/ciphers.hpp"
#include "error.hpp"

namespace gpuaes {

// The named one, or that of the key's length; UsageError where they do not fit.
inline Cipher choose_cipher(std::optional<Cipher> named, std::size_t key_bytes) {
  for (const CipherInfo& each : ciphers)
    if (each.key_bytes == key_bytes && each.cipher == named.value_or(each.cipher)) return each.cipher;
  if (!named) throw UsageError(fmt::format("no cipher has a key of {} bytes", key_bytes));
  throw UsageError(fmt::format("{} needs a key of {} bytes, and this one has {}", info(*named).name,
                               info(*named).key_bytes, key_bytes));
}

// For formats that have AES alone.
inline void refuse_all_but_aes(std::optional<Cipher> named, std::string_view format) {
  if (named && !is_aes(*named))
    throw UsageError(fmt::format("{} format has AES alone, and not {}", format, info(*named).name),
                     "-f sealed and -f raw have it");
}

}  // namespace gpuaes
