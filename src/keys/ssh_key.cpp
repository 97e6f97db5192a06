#include "keys/ssh_key.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "keys/kdf.hpp"
#include "keys/ssh_ed25519.hpp"
#include "keys/ssh_rsa.hpp"
#include "keys/ssh_wire.hpp"

namespace gpuaes {
namespace {

struct PublicLine {
  std::string_view type;
  PublicBytes key;  // as SSH encodes it, which begins with the type
};

std::string_view take_field(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(line_spaces), text.size());
  const std::string_view field = text.substr(0, end);
  text = trim(text.substr(end));
  return field;
}

// None unless the line has a type and the Base64 of a key that has the same type.
std::optional<PublicLine> read_line(std::string_view text) {
  const std::string_view type = take_field(text);
  std::optional<PublicBytes> key = decode_base64(take_field(text), Padding::required);
  if (!key || as_text(SshReader(*key).string()) != type) return std::nullopt;
  return PublicLine{type, std::move(*key)};
}

std::optional<KeyKind> kind_of(std::string_view type) {
  if (type == ssh_ed25519_type) return KeyKind::ssh_ed25519;
  if (type == ssh_rsa_type) return KeyKind::ssh_rsa;
  return std::nullopt;
}

}  // namespace

bool looks_like_ssh_recipient(std::string_view text) {
  bool found = false;
  for (const std::string_view type : {"ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"})
    found |= has_prefix(bytes_of(text), type);
  return found;
}

bool looks_like_ssh_identity(std::string_view text) {
  return has_prefix(bytes_of(text), "-----BEGIN ") && trim_end(text).ends_with("PRIVATE KEY-----");
}

std::optional<std::string> other_ssh_type(std::string_view text) {
  const std::optional<PublicLine> line = read_line(text);
  if (!line || !looks_like_ssh_recipient(line->type) || kind_of(line->type)) return std::nullopt;
  return std::string(line->type);
}

Key parse_ssh_recipient(std::string_view text, const std::string& name) {
  if (const std::optional<std::string> type = other_ssh_type(text))
    throw UsageError(fmt::format("{} is an SSH key of type {}, which cannot be a recipient", name, *type),
                     ssh_types_hint);
  std::optional<PublicLine> line = read_line(text);
  const std::optional<KeyKind> kind = line ? kind_of(line->type) : std::nullopt;
  if (!kind) throw UsageError(fmt::format("{} is not a valid SSH key: it is damaged or truncated", name));
  if (const std::string fault = describe_ssh_fault(*kind, line->key); !fault.empty())
    throw UsageError(fmt::format("{} is not a valid SSH key: {}", name, fault));
  return {.kind = *kind, .public_key = std::move(line->key)};
}

std::string describe_ssh_fault(KeyKind kind, std::span<const std::byte> public_key) {
  if (kind == KeyKind::ssh_rsa) return describe_ssh_rsa_fault(public_key);
  return x25519_key_of(public_key) ? "" : "it is not the canonical form of a point on the curve";
}

std::string ssh_text_of(const Key& recipient) {
  return fmt::format("{} {}", as_text(SshReader(recipient.public_key).string()),
                     encode_base64(recipient.public_key, Padding::required));
}

std::array<std::byte, ssh_fingerprint_bytes> ssh_fingerprint(std::span<const std::byte> public_key) {
  const auto hash = sha256(public_key);
  std::array<std::byte, ssh_fingerprint_bytes> begin;
  std::copy_n(hash.begin(), begin.size(), begin.begin());
  return begin;
}

}  // namespace gpuaes
