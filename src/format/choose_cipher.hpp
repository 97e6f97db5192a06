// The cipher of a format that has AES in all its sizes.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>

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

}  // namespace gpuaes
