#include "format/wrapped_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/error.hpp"
#include "base/rows.hpp"
#include "cipher/modes/evp_aead.hpp"

namespace gpuaes {
namespace {

constexpr std::array words{
    KeyWords{.key = KeyKind::key_file,
             .opener = "a key file",
             .wrong = "none of the given keys opens the input",
             .missing = "the input was sealed with a key file, and none was given",
             .missing_hint = "name the key file with -k"},
    KeyWords{.key = KeyKind::x25519,
             .opener = "an X25519 identity",
             .wrong = "none of the given identities opens the input",
             .missing = "the input was sealed for an X25519 recipient, and no X25519 identity was given",
             .missing_hint = "name the identity file with -k"},
    KeyWords{.key = KeyKind::xwing,
             .opener = "a post-quantum identity",
             .wrong = "none of the given identities opens the input",
             .missing =
                 "the input was sealed for a post-quantum recipient, and no post-quantum identity was given",
             .missing_hint = "name the identity file with -k"},
    KeyWords{.key = KeyKind::passphrase,
             .opener = "a passphrase",
             .wrong = "the passphrase does not open the input",
             .missing = "the input was sealed with a passphrase, and none was given",
             .missing_hint = "use -p to enter the passphrase"},
};
static_assert(has_row_for_each(words, &KeyWords::key));

}  // namespace

std::vector<std::byte> wrap_file_key(const WrapKey& key, const Secret& file_key) {
  std::vector<std::byte> wrapped(file_key.size() + tag_bytes);
  const std::span<std::byte> out(wrapped);
  EvpAead(key.cipher, key.key.bytes(), EvpAead::Use::seal)
      .seal(key.nonce, {}, file_key.bytes(), out.first(file_key.size()), out.subspan(file_key.size()));
  return wrapped;
}

std::optional<Secret> unwrap_file_key(const WrapKey& key, std::span<const std::byte> wrapped) {
  Secret file_key(wrapped.size() - tag_bytes);
  if (!EvpAead(key.cipher, key.key.bytes(), EvpAead::Use::open)
           .open(key.nonce, {}, wrapped.first(file_key.size()), wrapped.subspan(file_key.size()),
                 file_key.bytes()))
    return std::nullopt;
  return file_key;
}

std::optional<Secret> unwrap_with_answers(const Key& key, const std::string& input_name,
                                          const std::function<std::optional<Secret>(const Secret&)>& unwrap) {
  for (bool again = false;; again = true) {
    const std::optional<Secret> passphrase = key.passphrase(input_name, again);
    if (!passphrase) return std::nullopt;
    if (std::optional<Secret> file_key = unwrap(*passphrase)) return file_key;
  }
}

const KeyWords& words_of(KeyKind kind) {
  return row_of(words, kind);
}

std::string describe_openers(const std::vector<KeyKind>& kinds) {
  std::vector<std::string_view> names;
  for (const KeyKind kind : kinds) names.push_back(words_of(kind).opener);
  if (names.size() == 1) return std::string(names.front());
  return fmt::format("{} or {}", fmt::join(std::span(names).first(names.size() - 1), ", "), names.back());
}

std::string describe(const Key& key) {
  if (key.kind == KeyKind::passphrase) return "the passphrase";
  return fmt::format("the {} from {}", kem_of(key.kind) != nullptr ? "identity" : "key", key.name);
}

void check_combination(const Keyring& keyring) {
  if (keyring.find(KeyKind::passphrase) != nullptr && keyring.has_kem())
    throw UsageError("a passphrase cannot be combined with recipients",
                     "use one of the two; anyone can seal for a recipient, so the passphrase would not show "
                     "who wrote the file");
  if (keyring.find(KeyKind::x25519) != nullptr && keyring.find(KeyKind::xwing) != nullptr)
    throw UsageError("post-quantum recipients cannot be combined with X25519 recipients",
                     "use recipients of one kind; with both, a file would be only as safe as X25519");
}

void check_any_given(const std::vector<KeyKind>& kinds, const Keyring& keyring) {
  if (!keyring.none_given || kinds.empty()) return;
  if (kinds.size() > 1)
    throw UnsuitableInput(fmt::format("no key or passphrase was given; the input can be opened with {}",
                                      describe_openers(kinds)),
                          "name a key or identity file with -k, or use -p to enter a passphrase");
  const KeyWords& only = words_of(kinds.front());
  if (only.key != KeyKind::passphrase)
    throw UnsuitableInput(std::string(only.missing), std::string(only.missing_hint));
  if (keyring.keys.empty())
    throw UnsuitableInput(std::string(only.missing),
                          "there is no terminal for a prompt; use --passphrase-file or --passphrase-command");
}

}  // namespace gpuaes
