#include "secrets/secret_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "format/format.hpp"
#include "io/access.hpp"
#include "io/armor.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t max_encrypted_key_file_bytes = 16 << 20;

// How files in the formats begin that show which secrets open them, armored or not.
std::vector<std::string> encrypted_beginnings() {
  std::vector<std::string> texts;
  for (const Format& format : all_formats())
    if (format.accepts.recipients)
      texts.insert(texts.end(), {std::string(format.magic), armor_begin(format.armor)});
  return texts;
}

void refuse_key_as_input(const NamedFile& named, Cancel& cancel) {
  const std::string& name = named.name;
  const std::optional<struct stat> status = named.status();
  if (!status || !S_ISREG(status->st_mode) || access(name.c_str(), R_OK) != 0) return;
  FdSource file = named.open_unnamed(cancel);
  const KeyFile kind = SecretFile(named, read_up_to(max_file_bytes, file)).kind;
  const auto* const raw = std::get_if<RawKey>(&kind);
  const bool is_key = raw != nullptr ? raw->is_certain()
                                     : !std::holds_alternative<NoKeys>(kind) &&
                                           !std::holds_alternative<EncryptedKeyFile>(kind);
  if (is_key)
    throw UsageError(fmt::format("{} is a file of keys or recipients, but is named as an input", name),
                     "a pattern such as *.pub names several files; -k and -R each take one, so repeat them");
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
    if (size == contents.size()) contents.grow(std::min(2 * size, max));
  }
}

void warn_if_readable(const NamedFile& file, const FdSource& opened, const Messages& messages) {
  if (is_readable_by_others(opened.descriptor()))
    messages.warning(file.is_standard()
                         ? std::string("the file on standard input is readable by other users")
                         : fmt::format("{0} is readable by other users; run chmod 600 {0}", file.name));
}

FdSource open_secret_file(const NamedFile& file, Cancel& cancel) {
  refuse_secret_as_name(file.name);
  return file.open_unnamed(cancel);
}

SecretFile::SecretFile(NamedFile named, Secret read)
    : file(std::move(named)),
      contents(std::move(read)),
      kind(classify_key_file(contents.bytes(), name(), encrypted_beginnings())) {}

void refuse_keys_as_inputs(const InputsRequest& inputs, Cancel& cancel) {
  for (const InputRequest& input : inputs.named)
    if (input.may_be_key) refuse_key_as_input(input.file, cancel);
}

SecretFile read_secret_file(const NamedFile& named, bool should_warn, const Context& context) {
  FdSource source = open_secret_file(named, context.cancel);
  SecretFile file(named, read_up_to(max_encrypted_key_file_bytes + 1, source));
  const bool is_encrypted = std::holds_alternative<EncryptedKeyFile>(file.kind);
  const std::size_t max = is_encrypted ? max_encrypted_key_file_bytes : max_file_bytes;
  if (file.contents.size() > max)
    throw UsageError(fmt::format(
        "{} is longer than {} bytes, which is too long for a file of keys or recipients", file.name(), max));
  if (should_warn && !is_encrypted && !std::holds_alternative<RecipientLines>(file.kind))
    warn_if_readable(named, source, context.messages);
  return file;
}

}  // namespace gpuaes
