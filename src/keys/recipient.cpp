#include "keys/recipient.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "keys/bech32.hpp"

namespace gpuaes {
namespace {

constexpr char identity_hint[] =
    "an identity is the first line of the file that gpuaes-keygen --x25519 writes";

constexpr std::string_view recipient_prefix = "gpuaes";
constexpr std::string_view identity_prefix = "GPUAES-SECRET-KEY-";
constexpr std::string_view age_identity_prefix = "AGE-SECRET-KEY-";
constexpr std::size_t recipient_characters = bech32_characters(recipient_prefix.size(), x25519_bytes);
constexpr std::size_t identity_characters = bech32_characters(identity_prefix.size(), x25519_bytes);

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
Identity parse_identity(std::string_view line, std::size_t number, const std::string& name) {
  if (has_bech32_prefix(age_identity_prefix, line))
    throw UsageError(fmt::format("{} contains an age identity, which is not supported", name),
                     "run gpuaes-keygen --x25519 to make an identity");
  if (looks_like_recipient(line))
    throw UsageError(fmt::format("line {} of {} is a recipient, not an identity", number, name),
                     "put recipients in a file of their own");
  Identity identity{Secret(x25519_bytes), {}};
  const Bech32Fault fault = decode_bech32(identity_prefix, line, identity.private_key.bytes());
  if (fault == Bech32Fault::prefix)
    throw UsageError(fmt::format("line {} of {} is not an identity", number, name), identity_hint);
  if (fault != Bech32Fault::none)
    throw UsageError(fmt::format("line {} of {} is not a valid identity: {}", number, name,
                                 describe_fault(fault, line.size(), identity_characters)),
                     identity_hint);
  identity.recipient = public_key_of(identity.private_key);
  return identity;
}

}  // namespace

std::string text_of(const PublicKey& recipient) {
  std::string text(recipient_characters, '\0');
  encode_bech32(recipient_prefix, recipient, std::as_writable_bytes(std::span(text)));
  return text;
}

bool looks_like_recipient(std::string_view text) {
  return has_bech32_prefix(recipient_prefix, text);
}

bool looks_like_identity(std::string_view text) {
  return has_bech32_prefix(identity_prefix, text) || has_bech32_prefix(age_identity_prefix, text);
}

PublicKey parse_recipient(std::string_view text, const std::string& name) {
  if (looks_like_identity(text))
    throw UsageError(fmt::format("{} is a secret identity, not a recipient", name), recipient_hint);
  if (has_bech32_prefix("age", text))
    throw UsageError(fmt::format("{} is an age recipient, which is not supported", name),
                     "run gpuaes-keygen --x25519 to make an identity and print its recipient");
  PublicKey key;
  const Bech32Fault fault = decode_bech32(recipient_prefix, text, key);
  if (fault == Bech32Fault::prefix)
    throw UsageError(fmt::format("{} is not a recipient: it does not begin with gpuaes1", name),
                     recipient_hint);
  if (fault != Bech32Fault::none)
    throw UsageError(fmt::format("{} is not a valid recipient: {}", name,
                                 describe_fault(fault, text.size(), recipient_characters)),
                     recipient_hint);
  if (!is_canonical(key))
    throw UsageError(
        fmt::format("{} is not a valid recipient: it is not the canonical form of a public key", name),
        recipient_hint);
  return key;
}

Secret identity_lines(const Identity& identity) {
  const std::string comment = "\n# recipient: " + text_of(identity.recipient) + "\n";
  Secret lines(identity_characters + comment.size());
  encode_bech32(identity_prefix, identity.private_key.bytes(), lines.bytes().first(identity_characters));
  std::ranges::copy(std::as_bytes(std::span(comment)), lines.bytes().begin() + identity_characters);
  return lines;
}

std::vector<Identity> parse_identities(std::string_view contents, const std::string& name) {
  std::vector<Identity> identities;
  for (ContentLines lines(contents); lines.next();)
    identities.push_back(parse_identity(lines.line(), lines.number(), name));
  if (identities.empty()) throw UsageError(fmt::format("{} contains no identity", name), identity_hint);
  return identities;
}

}  // namespace gpuaes
