#include "format/wrapped_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cipher/modes/aead.hpp"
#include "keys/ml_kem.hpp"
#include "keys/recipient.hpp"

namespace gpuaes {
namespace {

// "a key file, an X25519 identity or a passphrase". At least one kind.
std::string describe_openers(const std::vector<KeyKind>& kinds) {
  std::vector<std::string> names;
  for (const KeyKind kind : kinds) names.emplace_back(info(kind).opener);
  return join(names, "or");
}

// KeyError if one of the identities might open the input with a newer libcrypto.
void refuse_untried(const HeaderKeys& header, const Keyring& keyring) {
  std::vector<std::size_t> untried;  // numbers, as --info shows them
  for (std::size_t i = 0; i < header.kinds.size(); ++i) {
    const std::optional<KeyKind> kind = header.kinds[i];
    const Kem* const kem = kind ? info(*kind).kem : nullptr;
    if (kem != nullptr && !kem->is_available() && keyring.count(*kind) > 0) untried.push_back(i + 1);
  }
  if (!untried.empty())
    throw KeyError(fmt::format("no {0} opens the input, but {0}{1} {2} could not be tried: {3}", header.noun,
                               untried.size() == 1 ? "" : "s", fmt::join(untried, ", "), lacks_ml_kem()),
                   lacks_ml_kem_hint);
}

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

std::exception_ptr try_keys(Keyring& keyring, const std::function<bool(const LockedKeys&)>& needs,
                            const std::function<bool(const Key&)>& opens) {
  std::exception_ptr failure;
  const auto open_any = [&](KeyKind first, KeyKind last, std::size_t begin) {
    std::vector<const Key*> keys;
    for (const Key& key : std::span(keyring.keys).subspan(begin))
      if (key.kind >= first && key.kind <= last) keys.push_back(&key);
    std::ranges::stable_sort(keys, {}, &Key::kind);
    return std::ranges::any_of(keys, [&](const Key* key) { return opens(*key); });
  };
  static_assert(KeyKind::plugin < KeyKind::passphrase && KeyKind::passphrase == KeyKind::last);
  if (open_any({}, KeyKind::plugin, 0)) return failure;
  for (const LockedKeys& file : keyring.locked) {
    if (!needs(file)) continue;
    const std::size_t begin = keyring.keys.size();
    try {
      keyring.unlock(file);
    } catch (const Error&) {
      if (!failure) failure = std::current_exception();
    }
    if (open_any({}, KeyKind::plugin, begin)) return failure;
  }
  open_any(KeyKind::passphrase, KeyKind::passphrase, 0);
  return failure;
}

std::string describe(const Key& key) {
  if (key.kind == KeyKind::passphrase) return "the passphrase";
  if (key.kind == KeyKind::plugin) return fmt::format("the plugin {}", plugin_name(key));
  return fmt::format("the {} from {}", is_asymmetric(key.kind) ? "identity" : "key", key.name);
}

void check_combination(const Keyring& keyring) {
  if (keyring.find(KeyKind::passphrase) != nullptr && keyring.has_recipient())
    throw UsageError(
        "a passphrase cannot be combined with recipients",
        "use one of the two; anyone can encrypt for a recipient, so the passphrase would not show "
        "who wrote the file");
  const auto is_asymmetric_and = [](bool post_quantum) {
    return [post_quantum](const Key& key) {
      const bool is_known = is_asymmetric(key.kind) && key.kind != KeyKind::plugin;
      return is_known && is_post_quantum(key.kind) == post_quantum;
    };
  };
  if (std::ranges::any_of(keyring.keys, is_asymmetric_and(true)) &&
      std::ranges::any_of(keyring.keys, is_asymmetric_and(false)))
    throw UsageError("incompatible recipients: post-quantum ones cannot be combined with others",
                     "use recipients of one kind; with both, a file would be only as safe as the others");
}

void refuse_header(std::size_t at, std::string_view what, Hint hint) {
  throw AuthError(
      fmt::format("the input is corrupt at byte {}, in its header: {}; nothing was written", at, what),
      std::move(hint));
}

std::vector<KeyKind> HeaderKeys::supported() const {
  std::vector<KeyKind> found;
  for (const KeyKindInfo& each : key_kinds())
    if (std::ranges::count(kinds, each.kind) > 0) found.push_back(each.kind);
  return found;
}

void check_any_given(const HeaderKeys& header, const Keyring& keyring) {
  const std::vector<KeyKind> kinds = header.supported();
  if (!keyring.none_given || kinds.empty()) return;
  const KeyKindInfo& only = info(kinds.front());
  if (kinds.size() > 1)
    throw UnsuitableInput(
        fmt::format("no key or passphrase was given; the input can be opened with {}",
                    describe_openers(kinds)),
        kinds.back() == KeyKind::passphrase ? Advice::name_any_secret : only.missing_advice);
  if (only.kind != KeyKind::passphrase) throw UnsuitableInput(std::string(only.missing), only.missing_advice);
  if (keyring.keys.empty()) throw UnsuitableInput(std::string(only.missing), Advice::name_passphrase_source);
}

std::string describe_unusable(const Keyring& keyring) {
  std::string text;
  for (const Error& each : keyring.unusable) text += fmt::format("; {}", each.what());
  return text;
}

void refuse_keyring(const HeaderKeys& header, const Keyring& keyring, std::string_view detail) {
  refuse_untried(header, keyring);
  const std::vector<KeyKind> present = header.supported();
  std::vector<KeyKind> tried = present;
  std::erase_if(tried, [&](KeyKind kind) { return keyring.count(kind) == 0; });
  if (tried.empty()) {
    const KeyKindInfo& first = info(present.front());
    throw KeyError(std::string(first.missing) + describe_unusable(keyring), first.missing_advice);
  }
  const std::string_view wrong =
      tried.size() == 1 ? info(tried.front()).wrong : "none of the given secrets opens the input";
  const bool only_passphrase = tried == std::vector{KeyKind::passphrase};
  const bool several_files = std::ranges::any_of(
      keyring.keys, [&](const Key& key) { return key.name != keyring.keys.front().name; });
  throw KeyError(fmt::format("{}{}{}", wrong, detail, describe_unusable(keyring)),
                 {only_passphrase || several_files ? Advice::list_slots : Advice::try_several_keys,
                  fmt::format("{}s", header.noun)});
}

}  // namespace gpuaes
