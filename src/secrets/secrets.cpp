#include "secrets/secrets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "files/named_file.hpp"
#include "keys/memory_turns.hpp"
#include "keys/recipient.hpp"
#include "secrets/key_files.hpp"
#include "secrets/passphrases.hpp"
#include "secrets/plugin.hpp"
#include "secrets/recipients.hpp"
#include "terminal/prompt.hpp"

namespace gpuaes {
namespace {

// Throws: none of the given keys can be used.
[[noreturn]] void refuse_unusable(const std::vector<Error>& unusable, const std::string& option) {
  Error all = unusable.front();
  for (const Error& other : std::span(unusable).subspan(1)) all.append(fmt::format("; {}", other.what()));
  all.within(option);
  throw all;
}

// Adds identities without data, which can also encrypt.
void add_plugins(Keyring& keyring, const SecretRequest& request) {
  for (const auto& [name, option] : request.plugins)
    keyring.keys.push_back(make_plugin_identity(name, option));
}

Keyring read_named(const SecretRequest& request, const Context& context) {
  Keyring keyring;
  const auto given = std::make_shared<AskPassphrase>();  // set before a key file is decrypted
  add_key_files(keyring, request, given, context);
  add_recipients(keyring, request, context);
  add_plugins(keyring, request);
  add_plugin_clients(keyring.keys, context);
  if (AskPassphrase passphrase = find_passphrase(request, context)) {
    if (!request.named.ask_passphrase) *given = passphrase;
    keyring.keys.push_back({.kind = KeyKind::passphrase, .passphrase = std::move(passphrase)});
  }
  if (keyring.empty() && !keyring.unusable.empty())
    refuse_unusable(keyring.unusable, request.named.key_files.front().option);
  return keyring;
}

}  // namespace

Keyring read_secrets(const SecretRequest& request, const Context& context) {
  Keyring keyring = read_named(request, context);
  if (!keyring.empty()) return keyring;
  const bool opens = request.purpose == Purpose::open;
  if (!request.ask_if_needed)
    throw UsageError("no key or passphrase was given",
                     opens ? Hint(Advice::name_any_secret)
                           : Hint("name a key file with -k (gpuaes-keygen makes one) or a recipient with "
                                  "-r, or use -p to enter a passphrase"));
  keyring.none_given = true;
  if (has_terminal())
    keyring.keys.push_back(
        {.kind = KeyKind::passphrase, .passphrase = ask_passphrases(request.named.attempts, context.cancel)});
  return keyring;
}

std::uint64_t derivation_bytes(const Keyring& keyring) {
  return keyring.find(KeyKind::passphrase) != nullptr || !keyring.locked.empty() ? MemoryTurns::max_extra : 0;
}

Keyring read_new_secrets(const SecretRequest& request, const Context& context) {
  Keyring keyring = read_named(request, context);
  if (keyring.keys.empty())
    throw UsageError("--rekey requires a new key, recipient or passphrase",
                     "use --new-key FILE, --recipient RECIPIENT or --new-passphrase");
  return keyring;
}

SessionRequest make_request(Keyring keyring, const InputRequest& input, const FormatRequest& format,
                            bool decrypt, const Context& context) {
  return {.decrypt = decrypt,
          .cipher = format.cipher,
          .keyring = std::move(keyring),
          .input_name = input.is_named() ? input.file.name : "",
          .iv = format.iv,
          .context = format.context,
          .label = format.label,
          .iterations = format.iterations,
          .check = [&cancel = context.cancel] { cancel.check(); },
          .detail = [&messages = context.messages](const std::string& text) { messages.detail(text); }};
}

const char* writer_warning(const Keyring& keyring, bool had_recipient) {
  const bool has_key = keyring.find(KeyKind::key_file) != nullptr;
  if (had_recipient && (has_key || keyring.find(KeyKind::passphrase) != nullptr))
    return "the input was sealed for a recipient, so anyone could have written it; the new key or passphrase "
           "does not prove who did";
  return has_key && keyring.has_recipient() ? "encrypting for both a key and a recipient; anyone with the "
                                              "identity could forge a file that the key opens"
                                            : nullptr;
}

}  // namespace gpuaes
