#include "run/secrets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "cli/command_line.hpp"
#include "format/format.hpp"
#include "io/armor.hpp"
#include "io/source_sink.hpp"
#include "keys/kdf.hpp"
#include "keys/key.hpp"
#include "keys/recipient.hpp"
#include "keys/ssh_key.hpp"
#include "lane/backends.hpp"
#include "plugin/client.hpp"
#include "process/child_process.hpp"
#include "process/terminal.hpp"
#include "run/endpoints.hpp"
#include "run/file_conflicts.hpp"

namespace gpuaes {
namespace {

// Passphrases -------------------------------------------------------------------------------------

constexpr unsigned attempts = 3;

// The first line of `contents`.
Secret read_line(std::span<const std::byte> contents, const std::string& name, const Messages& messages) {
  Secret passphrase = parse_passphrase(contents, name);
  if (passphrase.bytes().back() == std::byte{'\r'})
    messages.warning(
        fmt::format("the passphrase from {} ends with a carriage return, which is part of it; "
                    "Windows programs write one before each newline",
                    name));
  for (const ByteOrderMark& mark : byte_order_marks)
    if (as_text(passphrase.bytes()).starts_with(mark.bytes))
      messages.warning(
          fmt::format("the passphrase from {} begins with a {} byte order mark, which is part of it; "
                      "Windows programs write one before text",
                      name, mark.encoding));
  return passphrase;
}

// Ample for the entries of password managers, whose first line is the password.
constexpr std::size_t max_command_output_bytes = 64 << 10;

// Asks `question` after `complaint`, unless that is empty.
Secret ask(Prompt& prompt, const std::string& complaint, const std::string& question) {
  Secret line(max_passphrase_bytes + 1);
  line.shrink(
      prompt.ask(complaint.empty() ? question : fmt::format("{}\n{}", complaint, question), line.bytes()));
  return line;
}

// Asks for a passphrase and its repetition. UsageError if they differ three times.
Secret ask_new_passphrase(const std::string& question, Cancel& cancel) {
  Prompt prompt(cancel);
  for (unsigned attempt = 0; attempt < attempts; ++attempt) {
    const Secret line = ask(prompt, attempt > 0 ? "the passphrases do not match" : "", question);
    Secret passphrase = parse_passphrase(line.bytes(), "the terminal");
    if (is_equal(passphrase.bytes(), ask(prompt, "", "Confirm passphrase: ").bytes())) return passphrase;
  }
  throw UsageError("the passphrases do not match");
}

// Asks for a passphrase on the terminal, up to three times for each input. Returns the last answer for the
// next input first. UsageError if the third answer is empty or too long.
AskPassphrase ask_passphrase(Cancel& cancel) {
  struct State {
    std::optional<Secret> last;
    unsigned asked = 0;  // for this input
  };
  return [state = std::make_shared<State>(), &cancel](const std::string& input,
                                                      bool again) -> std::optional<Secret> {
    if (!again) {
      state->asked = 0;
      if (state->last) return state->last->copy();
    }
    if (state->asked == attempts) return std::nullopt;
    const std::string question =
        input.empty() ? "Enter passphrase: " : fmt::format("Enter passphrase for {}: ", printable(input));
    std::string complaint = again ? "the passphrase does not open the input" : "";
    Prompt prompt(cancel);
    for (;;) {
      ++state->asked;
      try {
        state->last = parse_passphrase(ask(prompt, complaint, question).bytes(), "the terminal");
        return state->last->copy();
      } catch (const UsageError& error) {
        if (state->asked == attempts) throw;
        complaint = error.what();
      }
    }
  };
}

// The first line of a file. Reads byte by byte: the bytes after the line may be the input, and may not arrive
// for a long time.
Secret read_passphrase(FdSource file, const Messages& messages) {
  Secret line(max_passphrase_bytes + 1);
  std::size_t size = 0;
  while (size < line.size() && file.read(line.bytes().subspan(size, 1)) == 1 &&
         line.bytes()[size] != std::byte{'\n'})
    ++size;
  return read_line(line.bytes().first(size), file.name(), messages);
}

// The first line that the shell command prints. UsageError if it is not a passphrase or the command fails.
Secret run_passphrase_command(const std::string& command, const char* option, const Messages& messages,
                              Cancel& cancel) {
  ChildProcess process({.words = {"/bin/sh", "-c", command}, .name = option}, cancel);
  FdSource source = process.output();
  try {
    process.start();
    const Secret output = read_up_to(max_command_output_bytes + 1, source);
    if (output.size() <= max_command_output_bytes) return read_line(output.bytes(), source.name(), messages);
  } catch (const IoError& error) {
    throw UsageError(error.what(), error.hint());
  }
  throw UsageError(fmt::format("{} is longer than {} bytes", source.name(), max_command_output_bytes));
}

// Key files that are encrypted with a passphrase: age files or sealed files that contain identities ----

constexpr std::size_t max_encrypted_key_file_bytes = 16 << 20;

// Bytes in memory.
class SpanSource : public Source {
 public:
  explicit SpanSource(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::size_t read(std::span<std::byte> out) override {
    const std::size_t count = std::min(out.size(), rest_.size());
    std::ranges::copy(rest_.first(count), out.begin());
    rest_ = rest_.subspan(count);
    return count;
  }
  bool ready(std::chrono::milliseconds) override { return true; }

 private:
  std::span<const std::byte> rest_;
};

// At most `max` bytes.
std::vector<std::byte> read_rest(Source& source, std::size_t max) {
  std::vector<std::byte> bytes(max);
  std::size_t size = 0;
  while (size < bytes.size()) {
    const std::size_t count = source.read(std::span(bytes).subspan(size));
    if (count == 0) break;
    size += count;
  }
  bytes.resize(size);
  return bytes;
}

// Decrypts the whole body at once.
Secret open_body(Session& session, std::span<const std::byte> body) {
  Secret plain(session.output_size(body.size(), true));
  const Piece piece{0, body, plain.bytes(), true};
  const std::unique_ptr<Lane> lane = make_cpu_lane();
  lane->start(session.job(piece));
  const Outcome outcome = session.verify(piece, lane->finish());
  if (outcome.error) throw *outcome.error;
  return plain;
}

AskPassphrase ask_for(const std::string& name, Cancel& cancel) {
  if (has_terminal()) return ask_passphrase(cancel);
  return [name](const std::string&, bool) -> std::optional<Secret> {
    throw UsageError(
        fmt::format("there is no terminal to ask for the passphrase of {}", name),
        name == standard_input_name
            ? "use gpuaes-stream -d --passphrase-file FILE to decrypt it first"
            : fmt::format("in bash, name <(gpuaes-stream -d --passphrase-file FILE {}) instead", name));
  };
}

// Whether the contents begin like a file in a format that shows which secrets open it, armored or not. No
// memory access or branch depends on the contents of a raw key.
bool is_encrypted(std::span<const std::byte> contents) {
  bool found = false;
  for (const Format& format : all_formats())
    if (format.accepts.recipients)
      found |= has_prefix(contents, format.magic) || has_prefix(contents, armor_begin(format.armor));
  return found;
}

// Asks for the passphrase on the terminal.
Secret decrypt(std::span<const std::byte> contents, const std::string& name, Cancel& cancel) {
  SpanSource source(contents);
  OpenedInput input(source, nullptr, std::nullopt);
  const Format& format = input.format(detect_format);
  SessionRequest request{.decrypt = true, .keyring = {{}, true}, .input_name = name};
  request.keyring.keys.push_back({.kind = KeyKind::passphrase, .passphrase = ask_for(name, cancel)});
  request.input = &input.header;
  request.check = [&cancel] { cancel.check(); };
  try {
    const std::unique_ptr<Session> session = open_session(format, std::move(request));
    if (session->open_source({input.body()}))
      throw UsageError(fmt::format("{} is a file in parts, which cannot contain a key", name));
    const std::vector<std::byte> body = read_rest(input.body(), contents.size());
    return open_body(*session, body);
  } catch (const UnsuitableInput&) {
    throw UsageError(
        fmt::format("{} is not encrypted with a passphrase", name),
        "a key file can be encrypted only with a passphrase, which is asked for on the terminal");
  } catch (const KeyError&) {
    throw Error(Exit::key, fmt::format("the passphrase does not open {}", name));
  } catch (const InputError& error) {  // which would be reported as one of the input
    throw Error(error.exit(), name + ": " + error.what(), error.hint());
  }
}

// Files -------------------------------------------------------------------------------------------

// Ample for any number of identities or recipients with comments. Limits how much is read from a device such
// as /dev/zero.
constexpr std::size_t max_file_bytes = 1 << 20;

FdSource open_secret_file(const std::string& name, Cancel& cancel) {
  refuse_secret_as_name(name);
  return open_source(name, cancel);
}

Secret read_contents(FdSource& file) {
  Secret contents = read_up_to(max_encrypted_key_file_bytes + 1, file);
  const std::size_t max = is_encrypted(contents.bytes()) ? max_encrypted_key_file_bytes : max_file_bytes;
  if (contents.size() > max)
    throw UsageError(fmt::format(
        "{} is longer than {} bytes, which is too long for a file of keys or recipients", file.name(), max));
  return contents;
}

// Warns if other users can read a file that may contain secrets in plaintext.
Secret read_and_warn(const std::string& name, const Messages& messages, Cancel& cancel) {
  FdSource file = open_secret_file(name, cancel);
  Secret contents = read_contents(file);
  if (!is_encrypted(contents.bytes()) && !looks_like_recipient(first_content_line(as_text(contents.bytes()))))
    warn_if_readable(name, file, messages);
  return contents;
}

// Keys and identities -----------------------------------------------------------------------------

// The contents of an encrypted key file.
Secret decrypt_key_file(const Secret& contents, const std::string& name, Cancel& cancel) {
  Secret plain = decrypt(contents.bytes(), name, cancel);
  if (plain.size() > max_file_bytes)
    throw UsageError(fmt::format("{} contains more than {} bytes, which is too long for a file of keys", name,
                                 max_file_bytes));
  if (is_encrypted(plain.bytes()))
    throw UsageError(fmt::format("{} is encrypted twice", name), "decrypt it once, and use the result");
  return plain;
}

// The key in a file, or its identities; or their recipients, to seal for those. Warns if the raw bytes of a
// key are text.
std::vector<Key> parse_keys(const Secret& contents, const std::string& name, Purpose purpose,
                            const Messages& messages) {
  const std::string_view line = first_content_line(as_text(contents.bytes()));
  std::vector<Key> keys;
  if (looks_like_recipient(line))
    throw UsageError(fmt::format("{} contains a recipient, not a key", name),
                     purpose == Purpose::rekey ? "use -R FILE to add a slot for each recipient in a file"
                                               : "use -R FILE to encrypt for the recipients in a file; to "
                                                 "decrypt, name an identity file with -k");
  if (has_only_comments(contents.bytes())) refuse_without_identity(name);
  if (!looks_like_identity(line)) {
    Secret key = parse_key(contents.bytes(), name);
    if (key.size() == contents.size() && is_text(key.bytes()))
      messages.warning(
          fmt::format("{} contains text, not a random key; use --passphrase-file for a passphrase, and "
                      "gpuaes-keygen to make a key",
                      name));
    keys.push_back({.kind = KeyKind::key_file, .secret = std::move(key), .name = name});
    return keys;
  }
  if (purpose == Purpose::seal || purpose == Purpose::rekey)
    throw UsageError(fmt::format("{} contains an identity, which opens files but cannot encrypt them", name),
                     purpose == Purpose::rekey
                         ? "use --recipient with its recipient, which gpuaes-keygen -y prints"
                         : "use -d to decrypt, or -e to encrypt for its recipient");
  for (Key& identity : parse_identities(as_text(contents.bytes()), name))
    keys.push_back(purpose == Purpose::open || identity.kind == KeyKind::plugin ? std::move(identity)
                                                                                : recipient_of(identity));
  return keys;
}

// Keys that `unlock` returns when they are needed.
LockedKeys locked_keys(const char* option, const std::function<std::vector<Key>()>& unlock,
                       std::shared_ptr<const Key> recipient = nullptr) {
  const auto unlock_for_option = [=] { return with_option(option, unlock); };
  return {std::move(recipient), std::async(std::launch::deferred, unlock_for_option).share()};
}

// The file of an SSH key if it has a passphrase.
std::shared_ptr<SshKeyFile> find_locked_ssh_key(std::string_view contents, const std::string& name) {
  if (!looks_like_ssh_identity(first_content_line(contents))) return nullptr;
  auto file = std::make_shared<SshKeyFile>(contents, name);
  return file->has_passphrase() ? file : nullptr;
}

// Asks for the passphrase of an SSH key.
std::vector<Key> open_ssh_key(const SshKeyFile& file, const Key& recipient, Cancel& cancel) {
  const std::string& name = recipient.name;
  const AskPassphrase ask = ask_for(name, cancel);
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
Key read_ssh_recipient(const SshKeyFile& file, const std::string& file_name, Cancel& cancel) {
  if (std::optional<Key> recipient = file.recipient()) return std::move(*recipient);
  const std::string name = fmt::format("{}.pub", file_name);
  try {
    FdSource source = open_source(name, cancel);
    const Secret contents = read_up_to(max_file_bytes, source);
    Key recipient = parse_recipient(first_content_line(as_text(contents.bytes())), name);
    recipient.name = shown_name(file_name);
    return recipient;
  } catch (IoError& error) {
    error.set_hint(
        "the public key of this SSH key is needed first; ssh-keygen -y -f FILE > FILE.pub writes it");
    throw;
  }
}

// Adds the keys of a file. To open an input, those in a file with a passphrase wait until they are needed.
void add_keys(Keyring& keyring, const std::string& file_name, const SecretRequest& request,
              const Messages& messages, Cancel& cancel) {
  const std::string name = shown_name(file_name);
  const Purpose purpose = request.purpose;
  const auto contents = std::make_shared<Secret>(read_and_warn(file_name, messages, cancel));
  const std::string_view text = as_text(contents->bytes());
  const bool opens = purpose == Purpose::open;
  std::vector<Key> keys;
  if (is_encrypted(contents->bytes())) {
    const auto unlock = [=, &messages, &cancel] {
      return parse_keys(decrypt_key_file(*contents, name, cancel), name, purpose, messages);
    };
    if (opens) return keyring.locked.push_back(locked_keys(request.named.key_option, unlock));
    keys = unlock();
  } else if (const auto file = find_locked_ssh_key(text, name);
             file && (opens || purpose == Purpose::seal_for_identities)) {
    const auto recipient = std::make_shared<const Key>(read_ssh_recipient(*file, file_name, cancel));
    const auto unlock = [=, &cancel] { return open_ssh_key(*file, *recipient, cancel); };
    if (opens) return keyring.locked.push_back(locked_keys(request.named.key_option, unlock, recipient));
    keys.push_back(recipient->copy());
  } else {
    keys = parse_keys(*contents, name, purpose, messages);
  }
  std::ranges::move(keys, std::back_inserter(keyring.keys));
}

// Whether a regular file begins like an identity file. Other programs name those with -i.
bool is_identity_file(const std::string& name, Cancel& cancel) {
  if (access(name.c_str(), R_OK) != 0 || !std::filesystem::is_regular_file(name)) return false;
  FdSource file = open_source(name, cancel);
  const Secret begin = read_up_to(max_key_file_bytes, file);
  return looks_like_identity(first_content_line(as_text(begin.bytes())));
}

// Recipients --------------------------------------------------------------------------------------

// Adds the recipients in a file. The file counts as a secret, since it could be an identity file named by
// mistake.
void add_recipients(Keyring& keyring, const std::string& file_name, const Messages& messages,
                    Cancel& cancel) {
  FdSource file = open_secret_file(file_name, cancel);
  const Secret contents = read_contents(file);
  const std::string& name = file.name();
  if (looks_like_key(contents.bytes()))
    throw UsageError(fmt::format("{} contains a key, not recipients", name), "name a key file with -k");
  const std::size_t before = keyring.keys.size();
  bool skipped = false;
  for (ContentLines lines(as_text(contents.bytes())); lines.next();) {
    const std::string line_name = fmt::format("line {} of {}", lines.number(), name);
    const std::optional<std::string> type = other_ssh_type(lines.line());
    skipped |= type.has_value();
    if (type)
      messages.warning(fmt::format("{} is an SSH key of type {}, which cannot be a recipient and is skipped",
                                   line_name, *type));
    else
      keyring.keys.push_back(parse_recipient(lines.line(), line_name));
  }
  if (keyring.keys.size() == before)
    throw UsageError(fmt::format("{} contains no recipients", name),
                     skipped ? Hint(ssh_types_hint) : Hint(Advice::print_recipient));
}

// Text that begins like a recipient may appear in a message; anything else may be a secret.
Key parse_argument(const std::string& text) {
  if (looks_like_recipient(text)) return parse_recipient(text, fmt::format("-r {}", shown_recipient(text)));
  if (!looks_like_identity(text) && access(text.c_str(), F_OK) == 0)
    throw UsageError(fmt::format("-r {} is the name of a file, not a recipient", text),
                     "use -R FILE to encrypt for the recipients in a file");
  return parse_recipient(text, "the argument of --recipient");
}

// Each of `given` is a recipient, or @FILE for a file with one recipient per line. Empty lines and lines that
// begin with # are skipped.
void read_recipients(Keyring& keyring, const std::vector<std::string>& given, const Messages& messages,
                     Cancel& cancel) {
  for (const std::string& each : given)
    if (each.starts_with('@'))
      with_option("--recipients-file", [&] { add_recipients(keyring, each.substr(1), messages, cancel); });
    else
      keyring.keys.push_back(parse_argument(each));
}

// Old or new secrets ------------------------------------------------------------------------------

// A passphrase that is already known.
AskPassphrase answer_with(Secret passphrase) {
  const auto held = std::make_shared<Secret>(std::move(passphrase));
  return
      [held](const std::string&, bool again) { return again ? std::nullopt : std::optional(held->copy()); };
}

// To seal, asks for a new passphrase, once.
AskPassphrase read_passphrase(const SecretRequest& request, const Messages& messages, Cancel& cancel) {
  const SecretOptions& named = request.named;
  if (named.ask_passphrase && request.purpose == Purpose::open) return ask_passphrase(cancel);
  if (named.ask_passphrase)
    return [question = request.purpose == Purpose::rekey ? "Enter new passphrase: " : "Enter passphrase: ",
            &cancel, answer = AskPassphrase()](const std::string& input, bool again) mutable {
      if (!answer) answer = answer_with(ask_new_passphrase(question, cancel));
      return answer(input, again);
    };
  if (const auto& name = named.passphrase_file)
    return answer_with(with_option(named.file_option, [&] {
      FdSource file = open_secret_file(*name, cancel);
      warn_if_readable(*name, file, messages);
      return read_passphrase(std::move(file), messages);
    }));
  if (const auto& command = named.passphrase_command)
    return answer_with(run_passphrase_command(*command, named.command_option, messages, cancel));
  return {};
}

// Adds identities without data, which can also encrypt.
void add_plugins(Keyring& keyring, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    with_option("--plugin", [&] { keyring.keys.push_back(make_plugin_identity(name)); });
}

Keyring read_named(const SecretRequest& request, const Messages& messages, Cancel& cancel) {
  Keyring keyring;
  for (const std::string& name : request.named.key_files)
    with_option(request.named.key_option, [&] { add_keys(keyring, name, request, messages, cancel); });
  read_recipients(keyring, request.recipients, messages, cancel);
  add_plugins(keyring, request.plugins);
  const std::shared_ptr<Plugin> client = make_plugin_client(messages, cancel);
  for (Key& key : keyring.keys)
    if (key.kind == KeyKind::plugin) key.plugin = client;
  if (AskPassphrase passphrase = read_passphrase(request, messages, cancel))
    keyring.keys.push_back({.kind = KeyKind::passphrase, .passphrase = std::move(passphrase)});
  return keyring;
}

}  // namespace

// Starts with one page, which a low RLIMIT_MEMLOCK still allows to lock and which is enough for a key.
Secret read_up_to(std::size_t max, FdSource& file) {
  Secret contents(std::min(max_key_file_bytes, max));
  for (std::size_t size = 0;;) {
    const std::size_t count = file.read(contents.bytes().subspan(size));
    size += count;
    if (count == 0 || size == max) {
      contents.shrink(size);
      return contents;
    }
    if (size < contents.size()) continue;
    Secret larger(std::min(2 * size, max));
    std::ranges::copy(contents.bytes(), larger.bytes().begin());
    contents = std::move(larger);
  }
}

void warn_if_readable(const std::string& name, const FdSource& file, const Messages& messages) {
  const struct stat& status = file.status();
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)) != 0)
    messages.warning(name == standard_name
                         ? std::string("the file on standard input is readable by other users")
                         : fmt::format("{0} is readable by other users; run chmod 600 {0}", name));
}

Secret read_key_file(const std::string& name, const Messages& messages, Cancel& cancel) {
  Secret contents = read_and_warn(name, messages, cancel);
  return is_encrypted(contents.bytes()) ? decrypt_key_file(contents, shown_name(name), cancel)
                                        : std::move(contents);
}

Keyring read_secrets(const SecretRequest& request, const InputRequest& input, const Messages& messages,
                     Cancel& cancel) {
  Keyring keyring = read_named(request, messages, cancel);
  if (!keyring.empty()) return keyring;
  const bool opens = request.purpose == Purpose::open;
  if (opens && input.is_named() && is_identity_file(input.name, cancel))
    throw UsageError(fmt::format("{} contains an identity, not an encrypted file", input.name),
                     "name the identity file with -k, and the encrypted file with -i or without an option");
  if (!request.ask_if_needed)
    throw UsageError("no key or passphrase was given",
                     opens ? Hint(Advice::name_any_secret)
                           : Hint("name a key file with -k (gpuaes-keygen makes one) or a recipient with "
                                  "-r, or use -p to enter a passphrase"));
  keyring.none_given = true;
  if (has_terminal())
    keyring.keys.push_back({.kind = KeyKind::passphrase, .passphrase = ask_passphrase(cancel)});
  return keyring;
}

Keyring read_new_secrets(const SecretRequest& request, const Messages& messages, Cancel& cancel) {
  Keyring keyring = read_named(request, messages, cancel);
  if (keyring.keys.empty())
    throw UsageError("--rekey requires a new key, recipient or passphrase",
                     "use --new-key FILE, --recipient RECIPIENT or --new-passphrase");
  return keyring;
}

SessionRequest make_request(Keyring keyring, const InputRequest& input, const FormatRequest& format,
                            bool decrypt, const Messages& messages, Cancel& cancel) {
  return {.decrypt = decrypt,
          .cipher = format.cipher,
          .keyring = std::move(keyring),
          .input_name = input.is_named() ? input.name : "",
          .iv = format.iv,
          .context = format.context,
          .label = format.label,
          .iterations = format.iterations,
          .check = [&cancel] { cancel.check(); },
          .detail = [&messages](const std::string& text) { messages.detail(text); }};
}

const char* writer_warning(const Keyring& keyring, bool had_recipient) {
  const bool has_key = keyring.find(KeyKind::key_file) != nullptr;
  if (had_recipient && (has_key || keyring.find(KeyKind::passphrase) != nullptr))
    return "the input was sealed for a recipient, so anyone could have written it; the new key or passphrase "
           "does not prove who did";
  return has_key && keyring.has_recipient() ? "sealing for both a key and a recipient; anyone with the "
                                              "identity could forge a file that the key opens"
                                            : nullptr;
}

}  // namespace gpuaes
