#include "secrets/key_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
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
#include "secrets/secret_file.hpp"

namespace gpuaes {
namespace {

// Warns, if it should, when other users can read secrets in plaintext.
SecretFile read_and_warn(const NamedFile& named, bool should_warn, const Context& context) {
  FdSource file = open_secret_file(named, context.cancel);
  SecretFile read = read_secret_file(file);
  const bool is_public = std::holds_alternative<EncryptedKeyFile>(read.kind) ||
                         std::holds_alternative<RecipientLines>(read.kind);
  if (should_warn && !is_public) warn_if_readable(file, context.messages);
  return read;
}

UsageError encrypted_twice(const std::string& name) {
  return UsageError(fmt::format("{} is encrypted twice", name), "decrypt it once, and use the result");
}

// The keys in contents that are not encrypted; or the recipients of identities, to seal for those.
struct KeysIn {
  const Secret& contents;
  std::string name;
  const SecretRequest& request;
  const Messages& messages;

  using Keys = std::vector<Key>;

  // Warns if the raw bytes of a key are text.
  Keys operator()(const RawKey& key) const {
    if (request.only_identities) throw no_identity(name);
    if (key.form == RawKey::Form::text)
      messages.warning(
          fmt::format("{} contains text, not a random key; use --passphrase-file for a passphrase, and "
                      "gpuaes-keygen to make a key",
                      name));
    Keys keys;
    keys.push_back({.kind = KeyKind::key_file, .secret = key.key.copy(), .name = name});
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
    for (Key& identity : parse_identities(as_text(contents.bytes()), name))
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

// Keys that `unlock` returns when they are needed.
LockedKeys locked_keys(const NamedFile& file, const std::function<std::vector<Key>()>& unlock,
                       std::shared_ptr<const Key> recipient = nullptr) {
  const auto unlock_in_context = [=] { return file.in_context(unlock); };
  return {std::move(recipient), std::async(std::launch::deferred, unlock_in_context).share()};
}

// Asks for the passphrase of an SSH key.
std::vector<Key> open_ssh_key(const SshKeyFile& file, const Key& recipient, unsigned attempts,
                              const AskPassphrase& given, Cancel& cancel) {
  const std::string& name = recipient.name;
  file.check_encryption();
  const AskPassphrase ask = ask_for_file(name, give_passphrase_hint, attempts, given, cancel);
  std::vector<Key> keys;
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

// Adds the keys in a file. To open an input, those with a passphrase wait until they are needed.
struct AddKeys {
  Keyring& keyring;
  const NamedFile& file;
  const std::shared_ptr<const Secret>& contents;
  const SecretRequest& request;
  const std::shared_ptr<const AskPassphrase>& given;
  const Context& context;

  bool opens() const { return request.purpose == Purpose::open; }
  void add(std::vector<Key> keys) const { std::ranges::move(keys, std::back_inserter(keyring.keys)); }

  void operator()(EncryptedKeyFile) const {
    const auto unlock = [contents = contents, name = file.shown(), request = request,
                         given = opens() ? given : nullptr, context = context] {
      const SecretFile plain =
          decrypt_key_file(*contents, name, request.named.attempts, given.get(), context.cancel);
      return std::visit(KeysIn{plain.contents, name, request, context.messages}, plain.kind);
    };
    if (opens())
      keyring.locked.push_back(locked_keys(file, unlock));
    else
      add(unlock());
  }

  void operator()(SshPrivateKey kind) const {
    const auto key = std::make_shared<const SshKeyFile>(as_text(contents->bytes()), file.shown());
    const bool is_used = opens() || request.purpose == Purpose::seal_for_identities;
    if (!key->has_passphrase() || !is_used) return add_plain(kind);
    const auto recipient = std::make_shared<const Key>(read_ssh_recipient(*key, file, context.cancel));
    const auto unlock = [key, recipient, attempts = request.named.attempts, given = given,
                         &cancel = context.cancel] {
      return open_ssh_key(*key, *recipient, attempts, *given, cancel);
    };
    if (opens())
      keyring.locked.push_back(locked_keys(file, unlock, recipient));
    else
      keyring.keys.push_back(recipient->copy());
  }

  void operator()(const RawKey& key) const { add_plain(key); }
  void operator()(IdentityLines kind) const { add_plain(kind); }
  void operator()(RecipientLines kind) const { add_plain(kind); }
  void operator()(const NoKeys& kind) const { add_plain(kind); }

 private:
  template <class Kind>
  void add_plain(const Kind& kind) const {
    add(KeysIn{*contents, file.shown(), request, context.messages}(kind));
  }
};

bool has_ssh_key(const KeyFile& kind) {
  const auto* const recipients = std::get_if<RecipientLines>(&kind);
  return std::holds_alternative<SshPrivateKey>(kind) || (recipients != nullptr && recipients->first_is_ssh);
}

void add_key_file(Keyring& keyring, const NamedFile& named, const SecretRequest& request,
                  const std::shared_ptr<const AskPassphrase>& given, const Context& context) {
  SecretFile file = read_and_warn(named, request.warn_if_readable, context);
  const auto contents = std::make_shared<const Secret>(std::move(file.contents));
  try {
    std::visit(AddKeys{keyring, named, contents, request, given, context}, file.kind);
  } catch (const Error& error) {
    if (request.purpose != Purpose::open || !has_ssh_key(file.kind) || error.lacks_resource()) throw;
    keyring.unusable.push_back(error);
  }
}

}  // namespace

void add_key_files(Keyring& keyring, const SecretRequest& request,
                   const std::shared_ptr<const AskPassphrase>& given, const Context& context) {
  for (const NamedFile& file : request.named.key_files)
    file.in_context([&] { add_key_file(keyring, file, request, given, context); });
}

SecretFile read_key_file(const NamedFile& named, const Context& context) {
  SecretFile file = read_and_warn(named, true, context);
  if (!std::holds_alternative<EncryptedKeyFile>(file.kind)) return file;
  const std::string name = named.shown();
  SecretFile plain = decrypt_key_file(file.contents, name, default_attempts, nullptr, context.cancel);
  if (std::holds_alternative<EncryptedKeyFile>(plain.kind)) throw encrypted_twice(name);
  return plain;
}

}  // namespace gpuaes
