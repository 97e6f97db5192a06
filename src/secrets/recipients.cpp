#include "secrets/recipients.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "files/named_file.hpp"
#include "keys/recipient.hpp"
#include "keys/ssh_key.hpp"
#include "secrets/secret_file.hpp"

namespace gpuaes {
namespace {

// Adds the recipients in a file. The file counts as a secret, since it could be an identity file named by
// mistake.
void add_recipients_in(Keyring& keyring, const NamedFile& named, const Context& context) {
  const SecretFile file = read_secret_file(named, false, context);
  const std::string name = file.name();
  if (const auto* const key = std::get_if<RawKey>(&file.kind); key != nullptr && key->is_certain())
    throw UsageError(fmt::format("{} contains a key, not recipients", name), "name a key file with -k");
  const std::size_t before = keyring.keys.size();
  bool skipped = false;
  for (ContentLines lines(as_text(file.contents.bytes())); lines.next();) {
    const std::string line_name = fmt::format("line {} of {}", lines.number(), name);
    const std::optional<std::string> type = other_ssh_type(lines.line());
    skipped |= type.has_value();
    if (type)
      context.messages.warning(fmt::format(
          "{} is an SSH key of type {}, which cannot be a recipient and is skipped", line_name, *type));
    else
      keyring.keys.push_back(parse_recipient(lines.line(), line_name));
  }
  if (keyring.keys.size() == before)
    throw UsageError(fmt::format("{} contains no recipients", name),
                     skipped ? Hint(ssh_types_hint) : Hint(Advice::print_recipient));
}

// Text that begins like a recipient may appear in a message; anything else may be a secret.
Key parse_argument(const std::string& text) {
  const std::size_t line_end = text.find('\n');
  const bool has_lines = line_end != text.npos && text.find_first_not_of(" \t\r\n", line_end) != text.npos;
  const TextKind kind = kind_of_text(text);
  if (!is_identity(kind) && (has_lines || has_several_recipients(text)))
    throw UsageError("the argument of -r is not one recipient",
                     "to encrypt for all recipients in a file, use -R FILE; -R - reads standard input");
  if (is_recipient(kind)) return parse_recipient(text, fmt::format("-r {}", shown_recipient(text)));
  if (!is_identity(kind) && access(text.c_str(), F_OK) == 0)
    throw UsageError(fmt::format("-r {} is the name of a file, not a recipient", text),
                     "use -R FILE to encrypt for the recipients in a file");
  if (is_address(text))
    throw UsageError("the argument of -r is an address, not a recipient",
                     "download the keys, on GitHub from https://github.com/USER.keys, and use -R FILE");
  return parse_recipient(text, "the argument of --recipient");
}

}  // namespace

void add_recipients(Keyring& keyring, const SecretRequest& request, const Context& context) {
  for (const RecipientArgument& each : request.recipients)
    if (const auto* const file = std::get_if<NamedFile>(&each))
      file->in_context([&] { add_recipients_in(keyring, *file, context); });
    else
      keyring.keys.push_back(parse_argument(std::get<std::string>(each)));
}

}  // namespace gpuaes
