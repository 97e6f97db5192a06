#include "keys/recipient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "keys/bech32.hpp"
#include "keys/kdf.hpp"
#include "keys/ssh_key.hpp"

namespace gpuaes {
namespace {

// Plugins: age1NAME1... and AGE-PLUGIN-NAME-1... ------------------------------------------------------

constexpr std::string_view plugin_recipient_begin = "age1", plugin_identity_begin = "AGE-PLUGIN-",
                           plugin_identity_end = "-";

// What precedes the last 1, which is not a digit of Bech32.
std::string_view prefix_of(std::string_view text) {
  return text.substr(0, std::min(text.rfind('1'), text.size()));
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.' || c == '+';
}

constexpr std::size_t max_name_characters = 200;
constexpr char names_allowed[] = "a plugin name may contain only letters, digits and the characters - _ . +";

// The name becomes part of a file name.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= max_name_characters && std::ranges::all_of(name, is_name_character);
}

// Independent of the locale.
std::string change_case(std::string_view name, char first, char last) {
  std::string changed(name);
  for (char& c : changed)
    if (c >= first && c <= last) c = static_cast<char>(c ^ ('a' ^ 'A'));
  return changed;
}

// `begin` and `end` are what the prefix has around the name.
std::string_view name_in(std::string_view text, std::string_view begin, std::string_view end) {
  const std::string_view prefix = prefix_of(text);
  if (prefix.size() < begin.size() + end.size() || !prefix.ends_with(end)) return {};
  return prefix.substr(begin.size(), prefix.size() - begin.size() - end.size());
}

// UsageError if the text is not a valid `noun` of the plugin with that name, which may be invalid.
void check_plugin_text(std::string_view text, std::string_view plugin, std::string_view noun,
                       const std::string& name) {
  const Bech32Fault fault = check_bech32(prefix_of(text), text);
  if (is_name(plugin) && fault == Bech32Fault::none) return;
  throw UsageError(fmt::format("{} is not a valid {} of an age plugin: {}", name, noun,
                               is_name(plugin) ? describe(fault) : names_allowed),
                   "the plugin prints its recipients and identities");
}

// Whether a text that begins with age1 is for a plugin.
bool is_plugin_recipient(std::string_view text) {
  constexpr std::size_t max_characters = 40;  // a 1 further on is a typing error in an X25519 recipient
  const std::size_t end = prefix_of(text).size();
  return end >= plugin_recipient_begin.size() && end <= plugin_recipient_begin.size() + max_characters;
}

// No early exit: the text may be a raw key.
bool is_plugin_identity(std::string_view text) {
  return has_prefix(bytes_of(text), plugin_identity_begin);
}

Key parse_plugin_recipient(std::string_view text, const std::string& name) {
  check_plugin_text(text, name_in(text, plugin_recipient_begin, ""), "recipient", name);
  const std::span<const std::byte> bytes = bytes_of(text);
  return {.kind = KeyKind::plugin, .public_key = {bytes.begin(), bytes.end()}};
}

Key parse_plugin_identity(std::string_view text, const std::string& name) {
  check_plugin_text(text, name_in(text, plugin_identity_begin, plugin_identity_end), "identity", name);
  return {.kind = KeyKind::plugin, .secret = secret_of(bytes_of(text))};
}

// Other kinds -----------------------------------------------------------------------------------------

// The kind whose prefix the text has, or null. The longest one: age1pq1... begins like age1...
const KeyKindInfo* find_kind(std::string_view KeyKindInfo::*prefix, std::string_view text) {
  const KeyKindInfo* found = nullptr;
  for (const KeyKindInfo& kind : key_kinds()) {
    const bool is_longer = found == nullptr || (kind.*prefix).size() > (found->*prefix).size();
    if (is_longer && !(kind.*prefix).empty() && has_bech32_prefix(kind.*prefix, text)) found = &kind;
  }
  return found;
}

std::size_t recipient_characters(const KeyKindInfo& kind) {
  return bech32_characters(kind.recipient_prefix.size(), kind.kem->public_bytes);
}

std::size_t identity_characters(const KeyKindInfo& kind) {
  return bech32_characters(kind.identity_prefix.size(), private_key_bytes);
}

// Describes a fault in a text of `size` characters. A valid text has `valid_size`.
std::string describe_fault(Bech32Fault fault, std::size_t size, std::size_t valid_size) {
  return fault == Bech32Fault::length ? fmt::format("it has {} characters instead of {}", size, valid_size)
                                      : std::string(describe(fault));
}

// RFC 3339, to seconds.
std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text;
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

Key decode_identity(const KeyKindInfo& kind, std::string_view line, const std::string& line_name,
                    const std::string& name) {
  Key identity{.kind = kind.kind, .secret = Secret(private_key_bytes), .name = name};
  const Bech32Fault fault = decode_bech32(kind.identity_prefix, line, identity.secret.bytes());
  if (fault != Bech32Fault::none)
    throw UsageError(fmt::format("{} is not a valid identity: {}", line_name,
                                 describe_fault(fault, line.size(), identity_characters(kind))),
                     Advice::restore_identity);
  return identity;
}

// `number` is the line's number in the file.
Key parse_identity(std::string_view line, std::size_t number, const std::string& name) {
  const std::string line_name = fmt::format("line {} of {}", number, name);
  switch (kind_of_text(line)) {
    case TextKind::identity:
      if (is_plugin_identity(line)) return parse_plugin_identity(line, line_name);
      return decode_identity(*find_kind(&KeyKindInfo::identity_prefix, line), line, line_name, name);
    case TextKind::recipient:
    case TextKind::ssh_recipient:
      throw UsageError(fmt::format("{} is a recipient, not an identity", line_name),
                       "put recipients in a file of their own");
    case TextKind::ssh_identity:
    case TextKind::other:
      break;
  }
  refuse_byte_order_mark(line, name);
  throw UsageError(fmt::format("{} is not an identity", line_name), Advice::restore_identity);
}

// `text` begins like a recipient in Bech32.
Key decode_recipient(std::string_view text, const std::string& name) {
  const KeyKindInfo& kind = *find_kind(&KeyKindInfo::recipient_prefix, text);
  if (kind.kind == KeyKind::x25519 && is_plugin_recipient(text)) return parse_plugin_recipient(text, name);
  const Kem& kem = *kind.kem;
  Key recipient{.kind = kind.kind, .public_key = PublicBytes(kem.public_bytes)};
  const Bech32Fault fault = decode_bech32(kind.recipient_prefix, text, recipient.public_key);
  if (fault != Bech32Fault::none)
    throw UsageError(fmt::format("{} is not a valid recipient: {}", name,
                                 describe_fault(fault, text.size(), recipient_characters(kind))),
                     Advice::print_recipient);
  if (!kem.is_canonical(recipient.public_key))
    throw UsageError(
        fmt::format("{} is not a valid recipient: it is not the canonical form of a public key", name),
        Advice::print_recipient);
  return recipient;
}

}  // namespace

Key make_identity(KeyKind kind) {
  return {.kind = kind, .secret = random_secret(private_key_bytes)};
}

Key recipient_of(const Key& identity) {
  Key recipient{.kind = identity.kind, .public_key = identity.public_key};
  if (recipient.public_key.empty())
    recipient.public_key = info(identity.kind).kem->public_key_of(identity.secret);
  return recipient;
}

std::string text_of(const Key& recipient) {
  if (is_ssh(recipient.kind)) return ssh_text_of(recipient);
  const KeyKindInfo& kind = info(recipient.kind);
  std::string text(recipient_characters(kind), '\0');
  encode_bech32(kind.recipient_prefix, recipient.public_key, std::as_writable_bytes(std::span(text)));
  return text;
}

Encapsulation encapsulate(const Key& recipient) {
  std::optional<Encapsulation> made = info(recipient.kind).kem->encapsulate(recipient.public_key);
  if (made) return std::move(*made);
  throw UsageError(
      fmt::format("recipient {} contains a low-order X25519 point", shown_recipient(text_of(recipient))),
      "a file that is sealed for it is not protected by X25519; ask for another recipient");
}

std::string shown_recipient(std::string_view text) {
  constexpr std::size_t max_characters = 100, shown_characters = 40;
  if (text.size() <= max_characters) return std::string(text);
  return fmt::format("{}...", text.substr(0, shown_characters));
}

TextKind kind_of_text(std::string_view text) {
  if (find_kind(&KeyKindInfo::recipient_prefix, text) != nullptr) return TextKind::recipient;
  if (looks_like_ssh_recipient(text)) return TextKind::ssh_recipient;
  if (find_kind(&KeyKindInfo::identity_prefix, text) != nullptr || is_plugin_identity(text))
    return TextKind::identity;
  return looks_like_ssh_identity(text) ? TextKind::ssh_identity : TextKind::other;
}

bool has_several_recipients(std::string_view text) {
  int count = 0;
  for (std::size_t at = 0; at < text.size(); at = std::min(text.find_first_of(" \t\r\n", at), text.size())) {
    at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
    count += is_recipient(kind_of_text(text.substr(at)));
  }
  return count > 1;
}

bool is_address(std::string_view text) {
  return text.starts_with("https://") || text.starts_with("http://") || text.starts_with("github:");
}

Key parse_recipient(std::string_view text, const std::string& name) {
  switch (kind_of_text(text)) {
    case TextKind::recipient:
      return decode_recipient(text, name);
    case TextKind::ssh_recipient:
      return parse_ssh_recipient(text, name);
    case TextKind::identity:
    case TextKind::ssh_identity:
      throw UsageError(fmt::format("{} is a secret identity, not a recipient", name),
                       Advice::print_recipient);
    case TextKind::other:
      break;
  }
  refuse_byte_order_mark(text, name);
  if (text.find(" ssh-") != text.npos)
    throw UsageError(fmt::format("{} has options before an SSH key", name),
                     "a recipient has no options; it begins with ssh-ed25519 or ssh-rsa");
  throw UsageError(fmt::format("{} is not a recipient: it does not begin with age1 or ssh-", name),
                   Advice::print_recipient);
}

Secret identity_lines(const Key& identity) {
  const KeyKindInfo& kind = info(identity.kind);
  const std::string comments =
      fmt::format("# created: {}\n# public key: {}\n", utc_now(), text_of(recipient_of(identity)));
  const std::size_t characters = identity_characters(kind);
  Secret lines(comments.size() + characters + 1);
  std::ranges::copy(bytes_of(comments), lines.bytes().begin());
  encode_bech32(kind.identity_prefix, identity.secret.bytes(),
                lines.bytes().subspan(comments.size(), characters));
  lines.bytes().back() = std::byte{'\n'};
  return lines;
}

UsageError no_identity(const std::string& name) {
  return UsageError(fmt::format("{} contains no identity", name), Advice::restore_identity);
}

std::vector<Key> parse_identities(std::string_view contents, const std::string& name) {
  std::vector<Key> identities;
  for (ContentLines lines(contents); lines.next();)
    identities.push_back(parse_identity(lines.line(), lines.number(), name));
  if (identities.empty()) throw no_identity(name);
  return identities;
}

Key make_plugin_identity(std::string_view plugin, std::string_view option) {
  if (!is_name(plugin))
    throw UsageError(fmt::format("{}: {}", option, names_allowed),
                     "the program of a plugin is age-plugin-NAME");
  const std::string prefix =
      fmt::format("{}{}{}", plugin_identity_begin, change_case(plugin, 'a', 'z'), plugin_identity_end);
  Key identity{.kind = KeyKind::plugin, .secret = Secret(bech32_characters(prefix.size(), 0))};
  encode_bech32(prefix, {}, identity.secret.bytes());
  return identity;
}

std::string plugin_name(const Key& key) {
  const std::string_view name =
      key.secret.size() > 0 ? name_in(as_text(key.secret.bytes()), plugin_identity_begin, plugin_identity_end)
                            : name_in(as_text(key.public_key), plugin_recipient_begin, "");
  return change_case(name, 'A', 'Z');
}

}  // namespace gpuaes
