#include "secrets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string_view>
#include <utility>

#include "cipher/kdf.hpp"
#include "cipher/key.hpp"
#include "io/fd.hpp"
#include "io/terminal.hpp"

namespace gpuaes {
namespace {

// A key in place of its file's name must not get into a message, and so into a log.
void refuse_key_as_name(const std::string& name) {
  constexpr std::size_t least_key_digits = 32;
  std::size_t digits = 0, most_digits = 0;
  for (const char c : name) {
    digits = std::isxdigit(static_cast<unsigned char>(c)) ? digits + 1 : 0;
    most_digits = std::max(most_digits, digits);
  }
  if (most_digits >= least_key_digits && access(name.c_str(), F_OK) != 0)
    throw UsageError("a key is given where the name of a file should be", "gpuaes-keygen makes a key file");
}

FdSource open_secret_file(const std::string& name, std::vector<struct stat>& files, const Messages& messages,
                          Cancel& cancel) {
  refuse_key_as_name(name);
  FdSource file = open_source(name, cancel);
  const struct stat& status = file.status();
  files.push_back(status);
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)) != 0)
    messages.warning(fmt::format("{} can be read by others than its owner: chmod 600 mends that", name));
  return file;
}

Secret read_key(FdSource file, const std::string& name) {
  Secret contents(max_key_file_bytes + 1);
  std::size_t size = 0;
  while (size < contents.size()) {
    const std::size_t count = file.read(contents.bytes().subspan(size));
    if (count == 0) break;
    size += count;
  }
  return parse_key(contents.bytes().first(size), name);
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

Secret ask_passphrase(bool twice, Cancel& cancel) {
  HiddenPrompt prompt(cancel);
  const auto ask = [&](std::string_view question) {
    Secret line(max_passphrase_bytes + 1);
    line.shrink(prompt.ask(question, line.bytes()));
    return parse_passphrase(line.bytes(), "the terminal");
  };
  Secret passphrase = ask("passphrase: ");
  if (twice && !is_equal(passphrase.bytes(), ask("the same again: ").bytes()))
    throw UsageError("the two passphrases differ");
  return passphrase;
}

}  // namespace

Secrets read_secrets(const Options& options, const Messages& messages, Cancel& cancel) {
  if (options.key_files.empty() && !options.ask_passphrase && !options.passphrase_file)
    throw UsageError("there is neither a key nor a passphrase",
                     "-k names a key file, -p asks for a passphrase");
  Secrets secrets;
  const auto open = [&](const std::string& name) {
    return open_secret_file(name, secrets.files, messages, cancel);
  };
  for (const std::string& name : options.key_files) secrets.keys.push_back(read_key(open(name), name));
  secrets.read_whole = secrets.files;
  if (options.ask_passphrase)
    secrets.passphrase = [twice = !options.decrypt, &cancel] { return ask_passphrase(twice, cancel); };
  if (const auto& name = options.passphrase_file) {
    const auto held = std::make_shared<Secret>(read_passphrase(open(*name), *name));
    secrets.passphrase = [held] { return std::move(*held); };
  }
  return secrets;
}

}  // namespace gpuaes
