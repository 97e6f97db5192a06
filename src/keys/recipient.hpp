// Recipients are public keys that anyone can seal for; identities are the private keys that open such files.
// Both are written as text (keys/bech32.hpp, keys/ssh_key.hpp). Only a plugin knows what the data of its own
// mean (c2sp.org/age-plugin), so such a key holds the whole text. Error messages never show text that may be
// an identity.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "keys/keyring.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// A new identity, from the system's random number generator. `kind` must have a KEM.
Key make_identity(KeyKind kind);

// IoError if libcrypto lacks the KEM.
Key recipient_of(const Key& identity);

// The text of a recipient: age1..., age1pq1..., or a line that begins with ssh-.
std::string text_of(const Key& recipient);

// UsageError if the recipient has an X25519 key of low order, for which X25519 protects nothing.
Encapsulation encapsulate(const Key& recipient);

// The text of a recipient as messages show it: only its beginning if it is long.
std::string shown_recipient(std::string_view text);

// What the beginning of a text announces.
enum class TextKind { recipient, ssh_recipient, identity, ssh_identity, other };
TextKind kind_of_text(std::string_view text);

constexpr bool is_recipient(TextKind kind) {
  return kind == TextKind::recipient || kind == TextKind::ssh_recipient;
}
constexpr bool is_identity(TextKind kind) {
  return kind == TextKind::identity || kind == TextKind::ssh_identity;
}

// Whether more than one word of the text begins like a recipient.
bool has_several_recipients(std::string_view text);

// Whether the text begins like the address of something to download, such as https:// or github:USER.
bool is_address(std::string_view text);

// Parses a text that is only a recipient. UsageError naming `name`; IoError if libcrypto lacks the KEM.
Key parse_recipient(std::string_view text, const std::string& name);

// The contents of an identity file, as age-keygen writes it: comments with the time and the recipient, and a
// line AGE-SECRET-KEY-1... or AGE-SECRET-KEY-PQ-1...
Secret identity_lines(const Key& identity);

// Parses the contents of an identity file: one or more identities, one per line, where other lines are empty
// or begin with #. UsageError naming `name`.
std::vector<Key> parse_identities(std::string_view contents, const std::string& name);
UsageError no_identity(const std::string& name);  // that it contains none

// The identity without data of a plugin, whose name is from `option`. UsageError if it is not the name of
// one.
Key make_plugin_identity(std::string_view plugin, std::string_view option);

// The name of the key's plugin: lowercase letters, digits, and -_.+
std::string plugin_name(const Key& key);

}  // namespace gpuaes
