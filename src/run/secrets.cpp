#include "run/secrets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string_view>
#include <utility>

#include "base/texts.hpp"
#include "io/fd_source_sink.hpp"
#include "io/terminal.hpp"
#include "keys/bech32.hpp"
#include "keys/kdf.hpp"
#include "keys/key.hpp"
#include "run/recipients.hpp"

namespace gpuaes {
namespace {

// A secret in place of its file's name must not get into a message, and so into a log.
void refuse_secret_as_name(const std::string& name) {
  if (access(name.c_str(), F_OK) == 0) return;
  if (is_like_identity(name)) throw UsageError(text::identity_as_name, text::identity_as_name_hint);
  if (is_like_recipient(name)) throw UsageError(text::recipient_as_name, text::recipient_as_name_hint);
  constexpr std::size_t min_key_digits = 32;
  std::size_t digits = 0, max_digits = 0;
  for (const char c : name) {
    digits = std::isxdigit(static_cast<unsigned char>(c)) ? digits + 1 : 0;
    max_digits = std::max(max_digits, digits);
  }
  if (max_digits >= min_key_digits) throw UsageError(text::key_as_name, text::key_as_name_hint);
}

FdSource open_secret_file(const std::string& name, std::vector<struct stat>& files, const Messages& messages,
                          Cancel& cancel) {
  refuse_secret_as_name(name);
  FdSource file = open_source(name, cancel);
  const struct stat& status = file.status();
  files.push_back(status);
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)) != 0)
    messages.warning(fmt::format(text::readable_by_others, file.name()));
  return file;
}

// Adds the key or the identity in a file's contents.
void add_key(Secrets& secrets, const Secret& contents, const std::string& name, bool opens) {
  const std::string_view text(reinterpret_cast<const char*>(contents.bytes().data()), contents.size());
  if (is_like_recipient(text))
    throw UsageError(fmt::format(text::recipient_in_key_file, name), text::recipient_in_key_file_hint);
  if (has_bech32_prefix("AGE-SECRET-KEY-", text))
    throw UsageError(fmt::format(text::age_identity, name), text::age_identity_hint);
  if (!is_like_identity(text)) {
    secrets.keys.emplace_back(parse_key(contents.bytes(), name), name);
    return;
  }
  if (!opens) throw UsageError(fmt::format(text::identity_seals, name), text::identity_seals_hint);
  secrets.identities.push_back(parse_identity(contents.bytes(), name));
}

// Byte by byte: what is behind the line may be the input, and may be long in coming.
Secret read_passphrase(FdSource file) {
  Secret line(max_passphrase_bytes + 1);
  std::size_t size = 0;
  while (size < line.size() && file.read(line.bytes().subspan(size, 1)) == 1 &&
         line.bytes()[size] != std::byte{'\n'})
    ++size;
  return parse_passphrase(line.bytes().first(size), file.name());
}

Secret ask_passphrase(const std::string& question, bool twice, Cancel& cancel) {
  constexpr int attempts = 3;
  HiddenPrompt prompt(cancel);
  const auto ask = [&prompt](const std::string& text) {
    Secret line(max_passphrase_bytes + 1);
    line.shrink(prompt.ask(text, line.bytes()));
    return line;
  };
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    const bool again = attempt > 1;
    const Secret line = ask(again ? fmt::format("{}\n{}", text::passphrases_differ, question) : question);
    Secret passphrase = parse_passphrase(line.bytes(), text::terminal);
    if (!twice || is_equal(passphrase.bytes(), ask("the same again: ").bytes())) return passphrase;
  }
  throw UsageError(text::passphrases_differ);
}

// The options that name the secrets of one side.
struct Named {
  const std::vector<std::string>& key_files;
  const std::vector<std::string>& recipients;
  bool ask_passphrase;
  const std::optional<std::string>& passphrase_file;
  bool opens;  // and does not seal
  const char* question;

  bool empty() const {
    return key_files.empty() && recipients.empty() && !ask_passphrase && !passphrase_file;
  }
};

const std::vector<std::string> nothing;

Secrets read_named(const Named& named, const Messages& messages, Cancel& cancel) {
  Secrets secrets;
  for (const std::string& name : named.key_files)
    add_key(secrets, read_key_file(name, secrets.files, messages, cancel), shown_name(name), named.opens);
  secrets.recipients = read_recipients(named.recipients, secrets.files, cancel);
  if (named.ask_passphrase)
    secrets.passphrase = [question = named.question, twice = !named.opens, &cancel] {
      return ask_passphrase(question, twice, cancel);
    };
  if (const auto& name = named.passphrase_file) {
    FdSource file = open_secret_file(*name, secrets.files, messages, cancel);
    const auto held = std::make_shared<Secret>(read_passphrase(std::move(file)));
    secrets.passphrase = [held] { return std::move(*held); };
  }
  return secrets;
}

}  // namespace

Secret read_key_file(const std::string& name, std::vector<struct stat>& files, const Messages& messages,
                     Cancel& cancel) {
  FdSource file = open_secret_file(name, files, messages, cancel);
  Secret contents(max_key_file_bytes + 1);
  std::size_t size = 0;
  while (size < contents.size()) {
    const std::size_t count = file.read(contents.bytes().subspan(size));
    if (count == 0) break;
    size += count;
  }
  contents.shrink(size);
  return contents;
}

Secrets read_secrets(const Options& options, const Messages& messages, Cancel& cancel) {
  const bool rekeys = options.action == Options::Action::rekey;
  const bool opens = options.decrypt || rekeys;
  const Named named{options.key_files,
                    rekeys ? nothing : options.recipients,
                    options.ask_passphrase,
                    options.passphrase_file,
                    opens,
                    "passphrase: "};
  if (named.empty()) throw UsageError(text::no_secret, text::no_secret_hint);
  return read_named(named, messages, cancel);
}

Secrets read_new_secrets(const Options& options, const Messages& messages, Cancel& cancel) {
  const Named named{options.new_key_files,
                    options.recipients,
                    options.ask_new_passphrase,
                    options.new_passphrase_file,
                    false,
                    "new passphrase: "};
  if (named.empty()) throw UsageError(text::no_new_secret, text::no_new_secret_hint);
  return read_named(named, messages, cancel);
}

}  // namespace gpuaes
