// The functions of each format, for the list in formats.cpp: how it opens a session, and what its header
// shows without a key.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cipher/ciphers.hpp"
#include "format/format.hpp"
#include "keys/keyring.hpp"

namespace gpuaes {

// Takes exactly the header from the input. AuthError and IoError as for decryption.
using Describe = Description(HeaderReader& input);

using Rekey = NewHeader(const SessionRequest& request, const Keyring& new_keys);

// The sealed format, version 1 (gpuaes-stream(5)). Requires at least one of: keys of 32 bytes, recipients
// (identities for decryption), a passphrase. A passphrase cannot be combined with recipients. Any one of them
// opens the file. UsageError if these secrets are missing or invalid. Decryption throws AuthError, KeyError
// and IoError as in gpuaes-stream(5), "What a reader must do".
std::unique_ptr<Session> open_sealed(SessionRequest request);
Describe describe_sealed;
Rekey rekey_sealed;

// The age format, age-encryption.org/v1 (c2sp.org/age). Requires recipients (identities for decryption) or a
// passphrase. AuthError and KeyError as for the sealed format; VersionError if the input has only stanzas
// that this program cannot open.
std::unique_ptr<Session> open_age(SessionRequest request);
Describe describe_age;
Rekey rekey_age;

// A bare C2SP chunked-encryption message (gpuaes-stream(5), "The cobblestone format"). Requires a key of 16
// or 32 bytes. KeyError if the commitment differs.
std::unique_ptr<Session> open_cobblestone(SessionRequest request);
Describe describe_cobblestone;

// The format of `openssl enc -aes-N-ctr -pbkdf2 [-iter N]` (openssl-enc(1)): "Salted__", 8 bytes of salt, and
// AES in CTR mode. PBKDF2 with HMAC-SHA-256 derives the key and the first counter block from a passphrase. A
// wrong passphrase cannot be detected. UsageError if there is a key or no passphrase, AuthError if the input
// is not in this format.
inline constexpr std::string_view openssl_magic = "Salted__";
std::unique_ptr<Session> open_openssl(SessionRequest request);
Describe describe_openssl;

// CTR mode without a header, byte for byte as in `openssl enc -aes-N-ctr -K KEY -iv IV`. With Kuznyechik it
// is the mode of GOST R 34.13-2015, section 5.2, whose IV is the upper half of the first counter block, as in
// gost-engine's `openssl enc -engine gost -kuznyechik-ctr`. UsageError if the key or the IV is missing or has
// the wrong length.
std::unique_ptr<Session> open_raw(SessionRequest request);
Describe describe_raw;

// The named cipher, or AES with the key's length if none is named. UsageError if the key has the wrong
// length.
Cipher choose_cipher(std::optional<Cipher> named, const Key& key);

// For an input, at its beginning, that is not in the format of this name: throws AuthError if it recognizes
// the input.
void refuse_other_format(HeaderReader& input, std::string_view expected);

}  // namespace gpuaes
