#include "keys/recipient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/text.hpp"
#include "keys/bech32.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {
namespace {

constexpr char identity_hint[] =
    "an identity is the first line of the file that gpuaes-keygen --x25519 or --post-quantum writes";

// How recipients and identities of one kind begin.
struct Kind {
  KeyKind kind;
  std::string_view recipient_prefix, identity_prefix;

  std::size_t recipient_characters() const {
    return bech32_characters(recipient_prefix.size(), kem_of(kind)->public_bytes);
  }
  std::size_t identity_characters() const {
    return bech32_characters(identity_prefix.size(), private_key_bytes);
  }
};

constexpr std::array kinds{Kind{KeyKind::x25519, "gpuaes", "GPUAES-SECRET-KEY-"},
                           Kind{KeyKind::xwing, "gpuaespq", "GPUAES-SECRET-KEY-PQ-"}};

// Those of age are not supported. Messages name them, and the option of gpuaes-keygen for the same kind. The
// longer prefix comes first.
struct AgeKind {
  std::string_view recipient_prefix, identity_prefix, article_and_name, keygen_option;
};
constexpr std::array age_kinds{
    AgeKind{"age1pq", "AGE-SECRET-KEY-PQ-", "a post-quantum age", "--post-quantum"},
    AgeKind{"age", "AGE-SECRET-KEY-", "an age", "--x25519"}};

template <class Row>
using Prefix = std::string_view Row::*;

// The first row whose prefix the text has, or nullptr.
template <class Row, std::size_t size>
const Row* find_kind(const std::array<Row, size>& rows, Prefix<Row> prefix, std::string_view text) {
  const auto found =
      std::ranges::find_if(rows, [&](const Row& row) { return has_bech32_prefix(row.*prefix, text); });
  return found != rows.end() ? &*found : nullptr;
}

const Kind& row_of(KeyKind kind) {
  return *std::ranges::find(kinds, kind, &Kind::kind);
}

// Describes a fault in a text of `size` characters. A valid text has `valid_size`.
std::string describe_fault(Bech32Fault fault, std::size_t size, std::size_t valid_size) {
  switch (fault) {
    case Bech32Fault::length:
      return fmt::format("it has {} characters instead of {}", size, valid_size);
    case Bech32Fault::character:
      return "it contains an invalid character";
    case Bech32Fault::mixed_case:
      return "it mixes uppercase and lowercase letters";
    case Bech32Fault::checksum:
      return "its checksum is wrong; check for typing errors";
    case Bech32Fault::padding:
      return "its unused bits are not zero";
    case Bech32Fault::prefix:
    case Bech32Fault::none:
      break;
  }
  return {};
}

// `number` is the line's number in the file.
Key parse_identity(std::string_view line, std::size_t number, const std::string& name) {
  if (const AgeKind* age = find_kind(age_kinds, &AgeKind::identity_prefix, line))
    throw UsageError(
        fmt::format("{} contains {} identity, which is not supported", name, age->article_and_name),
        fmt::format("run gpuaes-keygen {} to make an identity", age->keygen_option));
  if (looks_like_recipient(line))
    throw UsageError(fmt::format("line {} of {} is a recipient, not an identity", number, name),
                     "put recipients in a file of their own");
  const Kind* const kind = find_kind(kinds, &Kind::identity_prefix, line);
  if (kind == nullptr)
    throw UsageError(fmt::format("line {} of {} is not an identity", number, name), identity_hint);
  Key identity{.kind = kind->kind, .secret = Secret(private_key_bytes), .name = name};
  const Bech32Fault fault = decode_bech32(kind->identity_prefix, line, identity.secret.bytes());
  if (fault != Bech32Fault::none)
    throw UsageError(fmt::format("line {} of {} is not a valid identity: {}", number, name,
                                 describe_fault(fault, line.size(), kind->identity_characters())),
                     identity_hint);
  return identity;
}

}  // namespace

Key make_identity(KeyKind kind) {
  return {.kind = kind, .secret = random_secret(private_key_bytes)};
}

Key recipient_of(const Key& identity) {
  return {.kind = identity.kind, .public_key = kem_of(identity.kind)->public_key_of(identity.secret)};
}

std::string text_of(const Key& recipient) {
  const Kind& kind = row_of(recipient.kind);
  std::string text(kind.recipient_characters(), '\0');
  encode_bech32(kind.recipient_prefix, recipient.public_key, std::as_writable_bytes(std::span(text)));
  return text;
}

std::string shown_recipient(std::string_view text) {
  constexpr std::size_t max_characters = 100, shown_characters = 40;
  if (text.size() <= max_characters) return std::string(text);
  return fmt::format("{}...", text.substr(0, shown_characters));
}

bool looks_like_recipient(std::string_view text) {
  return find_kind(kinds, &Kind::recipient_prefix, text) != nullptr;
}

bool looks_like_identity(std::string_view text) {
  return find_kind(kinds, &Kind::identity_prefix, text) != nullptr ||
         find_kind(age_kinds, &AgeKind::identity_prefix, text) != nullptr;
}

Key parse_recipient(std::string_view text, const std::string& name) {
  if (looks_like_identity(text))
    throw UsageError(fmt::format("{} is a secret identity, not a recipient", name), recipient_hint);
  if (const AgeKind* age = find_kind(age_kinds, &AgeKind::recipient_prefix, text))
    throw UsageError(
        fmt::format("{} is {} recipient, which is not supported", name, age->article_and_name),
        fmt::format("run gpuaes-keygen {} to make an identity and print its recipient", age->keygen_option));
  if (text.starts_with("ssh-") || text.starts_with("ecdsa-sha2-") || text.starts_with("sk-"))
    throw UsageError(fmt::format("{} is an SSH key, which is not supported", name),
                     "run gpuaes-keygen --x25519 to make an identity and print its recipient");
  const Kind* const kind = find_kind(kinds, &Kind::recipient_prefix, text);
  if (kind == nullptr)
    throw UsageError(fmt::format("{} is not a recipient: it does not begin with gpuaes1 or gpuaespq1", name),
                     recipient_hint);
  const Kem& kem = *kem_of(kind->kind);
  Key recipient{.kind = kind->kind, .public_key = PublicBytes(kem.public_bytes)};
  const Bech32Fault fault = decode_bech32(kind->recipient_prefix, text, recipient.public_key);
  if (fault != Bech32Fault::none)
    throw UsageError(fmt::format("{} is not a valid recipient: {}", name,
                                 describe_fault(fault, text.size(), kind->recipient_characters())),
                     recipient_hint);
  if (!kem.is_canonical(recipient.public_key))
    throw UsageError(
        fmt::format("{} is not a valid recipient: it is not the canonical form of a public key", name),
        recipient_hint);
  return recipient;
}

Secret identity_lines(const Key& identity) {
  const Kind& kind = row_of(identity.kind);
  const std::string comment = "\n# recipient: " + text_of(recipient_of(identity)) + "\n";
  Secret lines(kind.identity_characters() + comment.size());
  encode_bech32(kind.identity_prefix, identity.secret.bytes(),
                lines.bytes().first(kind.identity_characters()));
  std::ranges::copy(std::as_bytes(std::span(comment)), lines.bytes().last(comment.size()).begin());
  return lines;
}

std::vector<Key> parse_identities(std::string_view contents, const std::string& name) {
  std::vector<Key> identities;
  for (ContentLines lines(contents); lines.next();)
    identities.push_back(parse_identity(lines.line(), lines.number(), name));
  if (identities.empty()) throw UsageError(fmt::format("{} contains no identity", name), identity_hint);
  return identities;
}

}  // namespace gpuaes
