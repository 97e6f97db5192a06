#include "secrets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string_view>
#include <utility>

#include "cipher/bech32.hpp"
#include "cipher/kdf.hpp"
#include "cipher/key.hpp"
#include "io/fd.hpp"
#include "io/terminal.hpp"
#include "recipients.hpp"

namespace gpuaes {
namespace {

// A secret in place of its file's name must not get into a message, and so into a log.
void refuse_secret_as_name(const std::string& name) {
  if (access(name.c_str(), F_OK) == 0) return;
  if (is_like_identity(name))
    throw UsageError("an identity is given where the name of its file should be",
                     "whoever saw this command line can open what is sealed for it: make another one");
  if (is_like_recipient(name))
    throw UsageError("a recipient is given where the name of a file should be",
                     "-r takes recipients, and -k the file of an identity");
  constexpr std::size_t least_key_digits = 32;
  std::size_t digits = 0, most_digits = 0;
  for (const char c : name) {
    digits = std::isxdigit(static_cast<unsigned char>(c)) ? digits + 1 : 0;
    most_digits = std::max(most_digits, digits);
  }
  if (most_digits >= least_key_digits)
    throw UsageError("a key is given where the name of a file should be", "gpuaes-keygen makes a key file");
}

FdSource open_secret_file(const std::string& name, std::vector<struct stat>& files, const Messages& messages,
                          Cancel& cancel) {
  refuse_secret_as_name(name);
  FdSource file = open_source(name, cancel);
  const struct stat& status = file.status();
  files.push_back(status);
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)) != 0)
    messages.warning(fmt::format("{} can be read by others than its owner: chmod 600 mends that", name));
  return file;
}

// Adds the key or the identity in a file's contents.
void add_key(Secrets& secrets, const Secret& contents, const std::string& name, bool opens) {
  const std::string_view text(reinterpret_cast<const char*>(contents.bytes().data()), contents.size());
  if (is_like_recipient(text))
    throw UsageError(fmt::format("{} has a recipient, and no key", name),
                     "-r @FILE seals for the recipients in a file, and -k takes the identity that opens");
  if (has_bech32_prefix("AGE-SECRET-KEY-", text))
    throw UsageError(fmt::format("{} has an identity of age, which has another format", name),
                     "gpuaes-keygen --x25519 makes an identity");
  if (!is_like_identity(text)) return secrets.keys.push_back(parse_key(contents.bytes(), name));
  if (!opens)
    throw UsageError(fmt::format("{} has an identity, which opens files and seals none", name),
                     "-r seals for its recipient, which gpuaes-keygen -y prints");
  secrets.identities.push_back(parse_identity(contents.bytes(), name));
}

// Byte by byte: what is behind the line may be the input, and may be long in coming.
Secret read_passphrase(FdSource file, const std::string& name) {
  Secret line(max_passphrase_bytes + 1);
  std::size_t size = 0;
  while (size < line.size() && file.read(line.bytes().subspan(size, 1)) == 1 &&
         line.bytes()[size] != std::byte{'\n'})
    ++size;
  return parse_passphrase(line.bytes().first(size), name);
}

Secret ask_passphrase(const char* first_question, bool twice, Cancel& cancel) {
  HiddenPrompt prompt(cancel);
  const auto ask = [&](std::string_view question) {
    Secret line(max_passphrase_bytes + 1);
    line.shrink(prompt.ask(question, line.bytes()));
    return parse_passphrase(line.bytes(), "the terminal");
  };
  Secret passphrase = ask(first_question);
  if (twice && !is_equal(passphrase.bytes(), ask("the same again: ").bytes()))
    throw UsageError("the two passphrases differ");
  return passphrase;
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
    add_key(secrets, read_key_file(name, secrets.files, messages, cancel), name, named.opens);
  secrets.recipients = read_recipients(named.recipients, secrets.files, cancel);
  secrets.read_whole = secrets.files;
  if (named.ask_passphrase)
    secrets.passphrase = [question = named.question, twice = !named.opens, &cancel] {
      return ask_passphrase(question, twice, cancel);
    };
  if (const auto& name = named.passphrase_file) {
    FdSource file = open_secret_file(*name, secrets.files, messages, cancel);
    const auto held = std::make_shared<Secret>(read_passphrase(std::move(file), *name));
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
  if (named.empty())
    throw UsageError("there is neither a key nor a passphrase",
                     "-k names a key file, -p asks for a passphrase");
  return read_named(named, messages, cancel);
}

Secrets read_new_secrets(const Options& options, const Messages& messages, Cancel& cancel) {
  const Named named{options.new_key_files,
                    options.recipients,
                    options.ask_new_passphrase,
                    options.new_passphrase_file,
                    false,
                    "new passphrase: "};
  if (named.empty())
    throw UsageError("there is nothing to rekey for",
                     "--new-key names a key file, -r a recipient, --new-passphrase asks for a passphrase");
  return read_named(named, messages, cancel);
}

void refuse_read_whole(const Secrets& secrets, const struct stat& input) {
  for (const struct stat& status : secrets.read_whole)
    if (is_same_stream(status, input))
      throw UsageError("a key and the input come from the same pipe, which the key has read to its end");
}

}  // namespace gpuaes
