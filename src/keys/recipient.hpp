// Recipients and identities: public keys that anyone can seal for, and the private keys that open what was.
// Both are lines of text (keys/bech32.hpp). UsageErrors never show an identity, or what may be one.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "keys/secret.hpp"
#include "keys/x25519.hpp"

namespace gpuaes {

struct Identity {
  Secret private_key;
  PublicKey recipient;  // that belongs to it
};

// gpuaes1...
std::string text_of(const PublicKey& recipient);

// Whether it begins as a recipient or an identity does, as far as that goes.
bool is_like_recipient(std::string_view text);
bool is_like_identity(std::string_view text);

inline constexpr char recipient_hint[] =
    "a recipient is the line that gpuaes-keygen -y prints for an identity";

// The recipient in a text that has nothing else. UsageError that calls it `name`.
PublicKey parse_recipient(std::string_view text, const std::string& name);

// What a file of an identity holds: its line GPUAES-SECRET-KEY-1..., and one with its recipient as a comment.
Secret identity_lines(const Identity& identity);

// The identity in the contents of a file, which is its first line; others are empty or begin with #.
// UsageError that names `name`.
Identity parse_identity(std::span<const std::byte> contents, const std::string& name);

}  // namespace gpuaes
