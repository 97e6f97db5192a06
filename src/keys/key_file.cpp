#include "keys/key_file.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "keys/kdf.hpp"
#include "keys/recipient.hpp"

namespace gpuaes {
namespace {

// No early exit: the contents may be a raw key.
bool begins_with_any(std::span<const std::byte> contents, std::span<const std::string> texts) {
  bool found = false;
  for (const std::string& text : texts) found |= has_prefix(contents, text);
  return found;
}

NoKeys none_of_these(std::span<const std::byte> contents, const std::string& name) {
  try {
    refuse_byte_order_mark(as_text(contents), name);
  } catch (const UsageError& error) {
    return {error};
  }
  return {raw_key_fault(contents, name), true};
}

}  // namespace

KeyFile classify_key_file(std::span<const std::byte> contents, const std::string& name,
                          std::span<const std::string> encrypted) {
  if (begins_with_any(contents, encrypted)) return EncryptedKeyFile{};
  switch (kind_of_text(first_content_line(as_text(contents)))) {
    case TextKind::recipient:
      return RecipientLines{.first_is_ssh = false};
    case TextKind::ssh_recipient:
      return RecipientLines{.first_is_ssh = true};
    case TextKind::identity:
      return IdentityLines{};
    case TextKind::ssh_identity:
      return SshPrivateKey{};
    case TextKind::other:
      break;
  }
  if (has_only_comments(contents)) return NoKeys{no_identity(name)};
  if (std::optional<RawKey> key = find_raw_key(contents)) return std::move(*key);
  return none_of_these(contents, name);
}

}  // namespace gpuaes
