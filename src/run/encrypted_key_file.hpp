// Key files that are encrypted with a passphrase: age files or sealed files that contain identities.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/cancel.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

inline constexpr std::size_t max_encrypted_key_file_bytes = 16 << 20;

// Whether the contents begin like a file in a format that shows which secrets open it, armored or not. No
// memory access or branch depends on the contents of a raw key.
bool is_encrypted(std::span<const std::byte> contents);

// Decrypts such contents. Asks for the passphrase on the terminal. AuthError, KeyError and VersionError as
// for an input; UnsuitableInput if they need anything but a passphrase.
Secret decrypt_key_file(std::span<const std::byte> contents, const std::string& name, Cancel& cancel);

}  // namespace gpuaes
