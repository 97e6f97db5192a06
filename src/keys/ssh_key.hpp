// SSH keys as recipients and identities: lines of public keys, as in id_ed25519.pub and authorized_keys, and
// private key files. age has them for Ed25519 and RSA.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "keys/keyring.hpp"

namespace gpuaes {

// Whether the text begins like a public key, of any type, or like a private key in PEM (RFC 7468).
bool looks_like_ssh_recipient(std::string_view text);
bool looks_like_ssh_identity(std::string_view text);

inline constexpr char ssh_types_hint[] = "only ssh-ed25519 and ssh-rsa keys can be recipients";

// The type of a well-formed public key that cannot be a recipient, such as ecdsa-sha2-nistp256.
std::optional<std::string> other_ssh_type(std::string_view text);

// Parses a line of a public key: its type, Base64, and possibly a comment. UsageError naming `name`.
Key parse_ssh_recipient(std::string_view text, const std::string& name);

// What is wrong with a public key as SSH encodes it, as in "it has 1024 bits, ..."; empty if it is valid.
std::string describe_ssh_fault(KeyKind kind, std::span<const std::byte> public_key);

// The line, without a comment.
std::string ssh_text_of(const Key& recipient);

// Of a public key as SSH encodes it: the beginning of its SHA-256 hash.
inline constexpr std::size_t ssh_fingerprint_bytes = 4;
std::array<std::byte, ssh_fingerprint_bytes> ssh_fingerprint(std::span<const std::byte> public_key);

// Parses the contents of a private key file: OpenSSH's format (PROTOCOL.key), or PKCS #1 or PKCS #8 in PEM.
// The public key of the result is that of the recipient. UsageError naming `name` unless the file is valid
// and has no passphrase.
Key parse_ssh_identity(std::string_view contents, const std::string& name);

}  // namespace gpuaes
