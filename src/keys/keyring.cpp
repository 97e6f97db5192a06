#include "keys/keyring.hpp"

#include <algorithm>
#include <array>

#include "base/rows.hpp"

namespace gpuaes {

namespace {

constexpr std::array kinds{
    KeyKindInfo{.kind = KeyKind::key_file,
                .family = KeyFamily::symmetric,
                .opener = "a key file",
                .missing = "the input was encrypted with a key file, and none was given",
                .wrong = "none of the given keys opens the input",
                .missing_advice = Advice::name_key_file},
    KeyKindInfo{
        .kind = KeyKind::x25519,
        .family = KeyFamily::age,
        .kem = &x25519_kem,
        .recipient_prefix = "age",
        .identity_prefix = "AGE-SECRET-KEY-",
        .opener = "an X25519 identity",
        .missing = "the input was encrypted for an X25519 recipient, and no X25519 identity was given"},
    KeyKindInfo{
        .kind = KeyKind::xwing,
        .family = KeyFamily::age,
        .kem = &xwing_kem,
        .recipient_prefix = "age1pq",
        .identity_prefix = "AGE-SECRET-KEY-PQ-",
        .post_quantum = true,
        .opener = "a post-quantum identity",
        .missing =
            "the input was encrypted for a post-quantum recipient, and no post-quantum identity was given"},
    KeyKindInfo{.kind = KeyKind::ssh_ed25519,
                .family = KeyFamily::ssh,
                .kem = &ssh_ed25519_kem,
                .opener = "an ssh-ed25519 key",
                .missing = "the input was encrypted for an ssh-ed25519 key, and no such key was given"},
    KeyKindInfo{.kind = KeyKind::ssh_rsa,
                .family = KeyFamily::ssh,
                .opener = "an ssh-rsa key",
                .missing = "the input was encrypted for an ssh-rsa key, and no such key was given"},
    KeyKindInfo{.kind = KeyKind::p256,
                .family = KeyFamily::age,
                .kem = &p256_kem,
                .recipient_prefix = "age1tag",
                .opener = "the plugin of a P-256 key",
                .missing =
                    "the input was encrypted for a P-256 key in hardware, and no identity of its plugin was "
                    "given"},
    KeyKindInfo{.kind = KeyKind::ml_kem_p256,
                .family = KeyFamily::age,
                .kem = &ml_kem_p256_kem,
                .recipient_prefix = "age1tagpq",
                .post_quantum = true,
                .opener = "the plugin of a post-quantum key",
                .missing =
                    "the input was encrypted for a post-quantum key in hardware, and no identity of its "
                    "plugin was given"},
    KeyKindInfo{.kind = KeyKind::plugin,
                .family = KeyFamily::plugin,
                .opener = "an identity of a plugin",
                .missing = "no identity of a plugin was given"},
    KeyKindInfo{.kind = KeyKind::passphrase,
                .family = KeyFamily::symmetric,
                .opener = "a passphrase",
                .missing = "the input was encrypted with a passphrase, and none was given",
                .wrong = "the passphrase does not open the input",
                .missing_advice = Advice::enter_passphrase},
};
static_assert(has_row_for_each(kinds, &KeyKindInfo::kind));

}  // namespace

std::span<const KeyKindInfo> key_kinds() {
  return kinds;
}

const KeyKindInfo& info(KeyKind kind) {
  return row_of(kinds, kind);
}

Key Key::copy() const {
  return {kind, secret.copy(), public_key, passphrase, name, plugin};
}

Keyring Keyring::copy() const {
  Keyring other{{}, none_given, locked, unusable};
  for (const Key& key : keys) other.keys.push_back(key.copy());
  return other;
}

const Key* Keyring::find(KeyKind kind) const {
  const auto found = std::ranges::find(keys, kind, &Key::kind);
  return found != keys.end() ? &*found : nullptr;
}

std::size_t Keyring::count(KeyKind kind) const {
  const auto is_locked = [kind](const LockedKeys& file) {
    return file.recipient && file.recipient->kind == kind;
  };
  return static_cast<std::size_t>(std::ranges::count(keys, kind, &Key::kind) +
                                  std::ranges::count_if(locked, is_locked));
}

bool Keyring::has_recipient() const {
  return std::ranges::any_of(keys, [](const Key& key) { return is_asymmetric(key.kind); }) ||
         std::ranges::any_of(locked, [](const LockedKeys& file) { return file.recipient != nullptr; });
}

void Keyring::unlock(const LockedKeys& file) {
  for (const Key& key : file.keys.get()) keys.push_back(key.copy());
}

void Keyring::unlock_all() {
  for (const LockedKeys& file : locked) unlock(file);
  locked.clear();
}

}  // namespace gpuaes
