// The formats, for their list in formats.cpp: how each opens a session, and what its header shows without a
// key.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cipher/ciphers.hpp"
#include "format/format.hpp"
#include "keys/key.hpp"

namespace gpuaes {

// Each takes the header of its format from the input, all of it and not a byte more. AuthError and IoError as
// to decrypt.
using Describe = Description(HeaderReader& input);

// The sealed format, version 1 (gpuaes-stream(5)). Needs keys of 32 bytes, recipients (to decrypt:
// identities) or a passphrase, or several of them, but no passphrase together with recipients. Any one opens
// what all of them sealed. UsageError where they are missing or do not fit; to decrypt, AuthError, KeyError
// and IoError as gpuaes-stream(5), "What a reader must do", distinguishes them.
std::unique_ptr<Session> open_sealed(SessionRequest request);
Describe describe_sealed;

// The C2SP chunked-encryption message alone (gpuaes-stream(5), "The bare form"). Needs a key of 16 or 32
// bytes. KeyError where the commitment differs.
std::unique_ptr<Session> open_cobblestone(SessionRequest request);
Describe describe_cobblestone;

// What `openssl enc -aes-N-ctr -pbkdf2 [-iter N]` writes and reads: "Salted__", 8 bytes of salt, and CTR mode
// under a key and a first counter block that PBKDF2 with HMAC-SHA-256 derives from a passphrase
// (openssl-enc(1)). Nothing in it distinguishes a wrong passphrase from the right one. Needs a passphrase.
// UsageError for a key, IoError and AuthError for other input.
inline constexpr std::string_view openssl_magic = "Salted__";
std::unique_ptr<Session> open_openssl(SessionRequest request);
Describe describe_openssl;

// CTR mode alone, with no header: byte for byte what `openssl enc -aes-N-ctr -K KEY -iv IV` writes. With
// Kuznyechik it is that of GOST R 34.13-2015, section 5.2, whose IV is the upper half of the first counter
// block: what gost-engine's `openssl enc -engine gost -kuznyechik-ctr` writes. Needs a key and an IV.
// UsageError where they are missing or do not fit.
std::unique_ptr<Session> open_raw(SessionRequest request);
Describe describe_raw;

// The cipher of a session: the named one, or AES of the key's length. UsageError where the key does not fit.
Cipher choose_cipher(std::optional<Cipher> named, const FileKey& key);

// For inputs that do not begin as the format does: those that have to be named.
std::string undetected_formats_hint();

}  // namespace gpuaes
