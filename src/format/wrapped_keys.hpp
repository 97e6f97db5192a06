// What formats have in common whose headers hold a file key, wrapped for one or more keys.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cipher/job.hpp"
#include "keys/keyring.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// What a file key is wrapped with. No key may be used twice with the same nonce.
struct WrapKey {
  Cipher cipher;
  Secret key;
  Nonce nonce{{}, 12};
};

// The ciphertext of the file key, and the tag. LaneError if libcrypto fails.
std::vector<std::byte> wrap_file_key(const WrapKey& key, const Secret& file_key);
std::optional<Secret> unwrap_file_key(const WrapKey& key, std::span<const std::byte> wrapped);

// Asks for the passphrase until `unwrap` returns the file key. None if there is no further answer.
std::optional<Secret> unwrap_with_answers(const Key& key, const std::string& input_name,
                                          const std::function<std::optional<Secret>(const Secret&)>& unwrap);

// For messages about secrets that do not open a file.
struct KeyWords {
  KeyKind key;
  std::string_view opener;  // what opens a file that was encrypted for such a key, with an article
  std::string_view wrong, missing, missing_hint;
};
const KeyWords& words_of(KeyKind kind);

// "a key file, an X25519 identity or a passphrase", for kinds that are each named once. At least one.
std::string describe_openers(const std::vector<KeyKind>& kinds);

// The key that opens the input.
std::string describe(const Key& key);

// UsageError if a file cannot be encrypted for these keys together.
void check_combination(const Keyring& keyring);

// `kinds` are those that the header has something for. UnsuitableInput if the user named no secret, unless
// the input needs only a passphrase that can be asked for.
void check_any_given(const std::vector<KeyKind>& kinds, const Keyring& keyring);

}  // namespace gpuaes
