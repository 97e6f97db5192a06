#include "secrets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "cipher/kdf.hpp"
#include "cipher/key.hpp"
#include "io/fd.hpp"
#include "io/terminal.hpp"

namespace gpuaes {
namespace {

// A key in place of its file's name must not get into a message, and so into a log.
void refuse_key_as_name(const std::string& name) {
  const bool looks_like_key =
      name.size() >= 32 && name.find_first_not_of("0123456789abcdefABCDEF") == name.npos;
  if (looks_like_key && access(name.c_str(), F_OK) != 0)
    throw UsageError("-k takes the name of a key file, and never a key", "gpuaes-keygen makes a key file");
}

// The first `most` bytes of the file.
Secret read_file(const std::string& name, std::size_t most, std::vector<struct stat>& files,
                 const Messages& messages, Cancel& cancel) {
  FdSource file = open_source(name, cancel);
  const struct stat& status = file.status();
  files.push_back(status);
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)) != 0)
    messages.warning(fmt::format("{} can be read by others than its owner: chmod 600 mends that", name));
  Secret contents(most);
  std::size_t size = 0;
  while (size < most) {
    const std::size_t count = file.read(contents.bytes().subspan(size));
    if (count == 0) break;
    size += count;
  }
  contents.shrink(size);
  return contents;
}

Secret ask(std::string_view prompt, Cancel& cancel) {
  Secret line(max_passphrase_bytes + 1);
  line.shrink(ask_hidden(prompt, line.bytes(), cancel));
  return parse_passphrase(line.bytes(), "the terminal");
}

Secret ask_passphrase(bool twice, Cancel& cancel) {
  Secret passphrase = ask("passphrase: ", cancel);
  if (twice && !is_equal(passphrase.bytes(), ask("the same again: ", cancel).bytes()))
    throw UsageError("the two passphrases differ");
  return passphrase;
}

}  // namespace

Secrets read_secrets(const Options& options, const Messages& messages, Cancel& cancel) {
  if (options.key_files.empty() && !options.ask_passphrase && !options.passphrase_file)
    throw UsageError("there is neither a key nor a passphrase",
                     "-k names a key file, -p asks for a passphrase");
  Secrets secrets;
  for (const std::string& name : options.key_files) {
    refuse_key_as_name(name);
    const Secret contents = read_file(name, max_key_file_bytes + 1, secrets.files, messages, cancel);
    secrets.keys.push_back(parse_key(contents.bytes(), name));
  }
  if (options.ask_passphrase)
    secrets.passphrase = [twice = !options.decrypt, &cancel] { return ask_passphrase(twice, cancel); };
  if (const auto& name = options.passphrase_file) {
    const Secret contents = read_file(*name, max_passphrase_bytes + 1, secrets.files, messages, cancel);
    const auto held = std::make_shared<Secret>(parse_passphrase(contents.bytes(), *name));
    secrets.passphrase = [held] { return std::move(*held); };
  }
  return secrets;
}

}  // namespace gpuaes
