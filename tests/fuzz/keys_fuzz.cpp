// Any text is parsed as identities and as recipients, or refused with UsageError. What is parsed is written
// as a recipient that is parsed as the same one.
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "keys/recipient.hpp"
#include "keys/ssh_key.hpp"

namespace gpuaes {
namespace {

// The plugin has the text of its recipients.
void check_text(const Key& recipient) {
  if (recipient.kind == KeyKind::plugin) return;
  const Key again = parse_recipient(text_of(recipient), "again");
  require(again.kind == recipient.kind && again.public_key == recipient.public_key);
}

std::vector<Key> identities_in(std::string_view text) {
  if (!looks_like_ssh_identity(first_content_line(text))) return parse_identities(text, "it");
  const SshKeyFile file(text, "it");
  std::vector<Key> identities;
  if (!file.has_passphrase()) identities.push_back(file.open({}, {}).value());
  return identities;
}

}  // namespace

void fuzz(std::span<const std::byte> input) {
  const std::string_view text = as_text(input);
  try {
    for (const Key& identity : identities_in(text))
      if (identity.kind != KeyKind::plugin) check_text(recipient_of(identity));
  } catch (const UsageError&) {
  } catch (const IoError&) {  // libcrypto has no ML-KEM
  }
  for (ContentLines lines(text); lines.next();) try {
      if (!other_ssh_type(lines.line())) check_text(parse_recipient(lines.line(), "it"));
    } catch (const UsageError&) {
    } catch (const IoError&) {
    }
}

}  // namespace gpuaes
