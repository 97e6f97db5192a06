#include "secrets/key_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "files/named_file.hpp"
#include "io/fd_source_sink.hpp"
#include "keys/recipient.hpp"
#include "keys/ssh_key.hpp"
#include "secrets/encrypted_key_file.hpp"
#include "secrets/passphrases.hpp"
#include "secrets/plugin.hpp"
#include "secrets/secret_file.hpp"

namespace gpuaes {
namespace {

using Keys = std::vector<Key>;

// The identities in a file that is not encrypted, or the key in an SSH private key without a passphrase.
Keys identities_in(const SecretFile& file) {
  const std::string_view text = as_text(file.contents.bytes());
  const std::string name = file.name();
  if (!std::holds_alternative<SshPrivateKey>(file.kind)) return parse_identities(text, name);
  const SshKeyFile key(text, name);
  if (key.has_passphrase())
    throw UsageError(fmt::format("{} is an SSH private key with a passphrase", name),
                     "its recipient is the line in FILE.pub");
  Keys identities;
  identities.push_back(key.open({}, {}).value());
  return identities;
}

UsageError encrypted_twice(const std::string& name) {
  return UsageError(fmt::format("{} is encrypted twice", name), "decrypt it once, and use the result");
}

// The keys in a file that is not encrypted; or the recipients of identities, to seal for those.
struct KeysIn {
  const SecretFile& file;
  const SecretRequest& request;
  const Messages& messages;
  std::string name = file.name();

  // Warns if the raw bytes of a key are text.
  Keys operator()(RawKey& key) const {
    if (request.only_identities) throw no_identity(name);
    if (key.form == RawKey::Form::text)
      messages.warning(
          fmt::format("{} contains text, not a random key; use --passphrase-file for a passphrase, and "
                      "gpuaes-keygen to make a key",
                      name));
    Keys keys;
    keys.push_back({.kind = KeyKind::key_file, .secret = std::move(key.key), .name = name});
    return keys;
  }
  Keys operator()(IdentityLines) const {
    const Purpose purpose = request.purpose;
    if (purpose == Purpose::seal || purpose == Purpose::rekey)
      throw UsageError(
          fmt::format("{} contains an identity, which opens files but cannot encrypt them", name),
          purpose == Purpose::rekey ? "use --recipient with its recipient, which gpuaes-keygen -y prints"
                                    : "use -d to decrypt, or -e to encrypt for its recipient");
    Keys keys;
    for (Key& identity : identities_in(file))
      keys.push_back(purpose == Purpose::open || identity.kind == KeyKind::plugin ? std::move(identity)
                                                                                  : recipient_of(identity));
    return keys;
  }
  Keys operator()(SshPrivateKey) const { return (*this)(IdentityLines{}); }
  Keys operator()(RecipientLines) const {
    throw UsageError(fmt::format("{} contains a recipient, not a key", name),
                     request.purpose == Purpose::rekey
                         ? "use -R FILE to add a slot for each recipient in a file"
                         : "use -R FILE to encrypt for the recipients in a file; to "
                           "decrypt, name an identity file with -k");
  }
  Keys operator()(EncryptedKeyFile) const { throw encrypted_twice(name); }
  Keys operator()(const NoKeys& none) const {
    throw request.only_identities && none.broken_key ? no_identity(name) : none.why;
  }
};

Keys keys_in(SecretFile file, const SecretRequest& request, const Messages& messages) {
  return std::visit(KeysIn{file, request, messages}, file.kind);
}

// Keys that `unlock` returns when they are needed.
template <class Unlock>
LockedKeys locked_keys(const NamedFile& file, Unlock unlock, std::shared_ptr<const Key> recipient = nullptr) {
  auto unlock_in_context = [file, unlock = std::move(unlock)] { return file.in_context(unlock); };
  return {std::move(recipient), std::async(std::launch::deferred, std::move(unlock_in_context)).share()};
}

// Asks for the passphrase of an SSH key.
Keys open_ssh_key(const SshKeyFile& file, const Key& recipient, unsigned attempts, const AskPassphrase& given,
                  Cancel& cancel) {
  const std::string& name = recipient.name;
  file.check_encryption();
  const AskPassphrase ask = ask_for_file(name, give_passphrase_hint, attempts, given, cancel);
  Keys keys;
  for (bool again = false; keys.empty(); again = true) {
    const std::optional<Secret> passphrase = ask(name, again);
    if (!passphrase) throw Error(Exit::key, fmt::format("the passphrase does not open {}", name));
    if (std::optional<Key> key = file.open(*passphrase, [&cancel] { cancel.check(); }))
      keys.push_back(std::move(*key));
  }
  if (keys.front().public_key != recipient.public_key)
    throw UsageError(fmt::format("mismatched private and public SSH key: {0} and {0}.pub", name));
  return keys;
}

// The recipient of an SSH key with a passphrase, which may be only in FILE.pub.
Key read_ssh_recipient(const SshKeyFile& file, const NamedFile& named, Cancel& cancel) {
  if (std::optional<Key> recipient = file.recipient()) return std::move(*recipient);
  if (named.is_standard())
    throw UsageError("standard input has an SSH private key with a passphrase, whose public key is not known",
                     "name the file, with FILE.pub next to it");
  const std::string name = fmt::format("{}.pub", named.name);
  try {
    FdSource source = open_file_source(name, cancel);
    const Secret contents = read_up_to(max_file_bytes, source);
    Key recipient = parse_ssh_recipient(first_content_line(as_text(contents.bytes())), name);
    recipient.name = named.name;
    return recipient;
  } catch (IoError& error) {
    error.set_hint("its public key must be in FILE.pub: ssh-keygen -y -f FILE > FILE.pub");
    throw;
  }
}

bool has_ssh_key(const KeyFile& kind) {
  const auto* const recipients = std::get_if<RecipientLines>(&kind);
  return std::holds_alternative<SshPrivateKey>(kind) || (recipients != nullptr && recipients->first_is_ssh);
}

struct AddKeys {
  Keyring& keyring;
  const SecretRequest& request;
  const std::shared_ptr<const AskPassphrase>& given;
  const Context& context;

  bool opens() const { return request.purpose == Purpose::open; }
  void add(Keys keys) const { std::ranges::move(keys, std::back_inserter(keyring.keys)); }

  void in_file(const NamedFile& named) const {
    SecretFile file = read_secret_file(named, request.warn_if_readable, context);
    const bool may_be_skipped = opens() && has_ssh_key(file.kind);
    try {
      if (std::holds_alternative<EncryptedKeyFile>(file.kind))
        add_encrypted(std::move(file));
      else if (!std::holds_alternative<SshPrivateKey>(file.kind) || !add_locked_ssh_key(file))
        add(keys_in(std::move(file), request, context.messages));
    } catch (const Error& error) {
      if (!may_be_skipped || error.lacks_resource()) throw;
      keyring.unusable.push_back(error);
    }
  }

 private:
  void add_encrypted(SecretFile file) const {
    const NamedFile named = file.file;
    auto unlock = [file = std::move(file), request = request, given = opens() ? given : nullptr,
                   context = context] {
      SecretFile plain = decrypt_key_file(file, request.named.attempts, given.get(), context.cancel);
      Keys keys = keys_in(std::move(plain), request, context.messages);
      add_plugin_clients(keys, context);
      return keys;
    };
    if (opens())
      keyring.locked.push_back(locked_keys(named, std::move(unlock)));
    else
      add(unlock());
  }

  // Returns false if the key has no passphrase, or none is needed.
  bool add_locked_ssh_key(const SecretFile& file) const {
    SshKeyFile key(as_text(file.contents.bytes()), file.name());
    const bool is_used = opens() || request.purpose == Purpose::seal_for_identities;
    if (!key.has_passphrase() || !is_used) return false;
    const auto recipient = std::make_shared<const Key>(read_ssh_recipient(key, file.file, context.cancel));
    if (!opens()) return keyring.keys.push_back(recipient->copy()), true;
    auto unlock = [key = std::move(key), recipient, attempts = request.named.attempts, given = given,
                   &cancel = context.cancel] {
      return open_ssh_key(key, *recipient, attempts, *given, cancel);
    };
    keyring.locked.push_back(locked_keys(file.file, std::move(unlock), recipient));
    return true;
  }
};

}  // namespace

void add_key_files(Keyring& keyring, const SecretRequest& request,
                   const std::shared_ptr<const AskPassphrase>& given, const Context& context) {
  const AddKeys add_keys{keyring, request, given, context};
  for (const NamedFile& file : request.named.key_files) file.in_context([&] { add_keys.in_file(file); });
}

std::string read_recipients_of(const NamedFile& named, const Context& context) {
  SecretFile file = read_secret_file(named, true, context);
  if (std::holds_alternative<EncryptedKeyFile>(file.kind))
    file = decrypt_key_file(file, default_attempts, nullptr, context.cancel);
  const std::string name = file.name();
  if (std::holds_alternative<EncryptedKeyFile>(file.kind)) throw encrypted_twice(name);
  if (const auto* const key = std::get_if<RawKey>(&file.kind); key != nullptr && key->is_certain())
    throw UsageError(fmt::format("{} contains a key, which has no recipient", name),
                     "anyone who encrypts with a key needs the key itself");
  std::string recipients;
  for (const Key& identity : identities_in(file)) {
    if (identity.kind == KeyKind::plugin)
      throw UsageError(
          fmt::format("{} contains an identity of age-plugin-{}, and only that program knows its recipient",
                      name, plugin_name(identity)));
    recipients += text_of(recipient_of(identity)) + "\n";
  }
  return recipients;
}

}  // namespace gpuaes
