#include "keys/keyring.hpp"

#include <algorithm>

namespace gpuaes {

bool is_asymmetric(KeyKind kind) {
  return kind != KeyKind::key_file && kind != KeyKind::passphrase;
}

bool is_ssh(KeyKind kind) {
  return kind == KeyKind::ssh_ed25519 || kind == KeyKind::ssh_rsa;
}

bool is_post_quantum(KeyKind kind) {
  return kind == KeyKind::xwing || kind == KeyKind::ml_kem_p256;
}

const Kem* kem_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::x25519:
      return &x25519_kem;
    case KeyKind::xwing:
      return &xwing_kem;
    case KeyKind::p256:
      return &p256_kem;
    case KeyKind::ml_kem_p256:
      return &ml_kem_p256_kem;
    case KeyKind::ssh_ed25519:
      return &ssh_ed25519_kem;
    case KeyKind::ssh_rsa:
    case KeyKind::key_file:
    case KeyKind::plugin:
    case KeyKind::passphrase:
      break;
  }
  return nullptr;
}

std::vector<std::string> labels_of(KeyKind kind) {
  return is_post_quantum(kind) ? std::vector<std::string>{"postquantum"} : std::vector<std::string>();
}

Key Key::copy() const {
  return {kind, secret.copy(), public_key, passphrase, name, plugin};
}

Keyring Keyring::copy() const {
  Keyring other{{}, none_given};
  for (const Key& key : keys) other.keys.push_back(key.copy());
  return other;
}

const Key* Keyring::find(KeyKind kind) const {
  const auto found = std::ranges::find(keys, kind, &Key::kind);
  return found != keys.end() ? &*found : nullptr;
}

std::size_t Keyring::count(KeyKind kind) const {
  return static_cast<std::size_t>(std::ranges::count(keys, kind, &Key::kind));
}

bool Keyring::has_recipient() const {
  return std::ranges::any_of(keys, [](const Key& key) { return is_asymmetric(key.kind); });
}

}  // namespace gpuaes
