// What formats have in common whose headers hold a file key, wrapped for one or more keys.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cipher/job.hpp"
#include "format/format.hpp"
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

// Throws AuthError: `what` is wrong at byte `at` of the input.
[[noreturn]] void refuse_header(std::size_t at, std::string_view what, Hint hint = {});

// What a header has for keys: the kind of key for each slot or stanza; none for a type that is not supported.
struct HeaderKeys {
  std::string_view noun;  // "slot" or "stanza"
  std::vector<std::optional<KeyKind>> kinds;

  std::vector<KeyKind> supported() const;  // each once, in the order of KeyKind
};

// The key that opens the input.
std::string describe(const Key& key);

// Calls `opens` with each key until it returns true: first with the keys at hand, in the order of KeyKind;
// then with those in each locked file that `needs` accepts, after unlocking it; last with passphrases. Adds
// the unlocked keys to the keyring. Returns the first Error of unlocking, which is to be reported if nothing
// opens the input; otherwise null.
std::exception_ptr try_keys(Keyring& keyring, const std::function<bool(const LockedKeys&)>& needs,
                            const std::function<bool(const Key&)>& opens);

// UsageError if a file cannot be encrypted for these keys together.
void check_combination(const Keyring& keyring);

// UnsuitableInput if the user named no secret, unless the input needs only a passphrase that can be asked
// for.
void check_any_given(const HeaderKeys& header, const Keyring& keyring);

// For a message: the keys that could not be tried, as in "; id_ecdsa is ..."; empty if there are none.
std::string describe_unusable(const Keyring& keyring);

// Throws KeyError: names the secrets that were tried, followed by `detail`, or the slots that a newer
// libcrypto could have tried, or else the kind of secret that is missing. The header has a supported kind.
[[noreturn]] void refuse_keyring(const HeaderKeys& header, const Keyring& keyring,
                                 std::string_view detail = {});

}  // namespace gpuaes
