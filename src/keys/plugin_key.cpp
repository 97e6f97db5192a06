#include "keys/plugin_key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "keys/bech32.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view recipient_begin = "age1", identity_begin = "AGE-PLUGIN-", identity_end = "-";

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

Bech32Fault find_fault(std::string_view text) {
  const std::string_view prefix = prefix_of(text);
  Secret data(bech32_data_bytes(prefix.size(), text.size()));
  return decode_bech32(prefix, text, data.bytes());
}

// UsageError if the text is not a valid `noun` of the plugin with that name, which may be invalid.
void check(std::string_view text, std::string_view plugin, std::string_view noun, const std::string& name) {
  const Bech32Fault fault = find_fault(text);
  if (is_name(plugin) && fault == Bech32Fault::none) return;
  throw UsageError(fmt::format("{} is not a valid {} of an age plugin: {}", name, noun,
                               is_name(plugin) ? describe(fault) : names_allowed),
                   "the plugin prints its recipients and identities");
}

}  // namespace

bool is_plugin_recipient(std::string_view text) {
  constexpr std::size_t max_characters = 40;  // a 1 further on is a typing error in an X25519 recipient
  const std::size_t end = prefix_of(text).size();
  return has_bech32_prefix(recipient_begin.substr(0, recipient_begin.size() - 1), text) &&
         end >= recipient_begin.size() && end <= recipient_begin.size() + max_characters;
}

bool is_plugin_identity(std::string_view text) {
  return has_prefix(bytes_of(text), identity_begin);
}

Key parse_plugin_recipient(std::string_view text, const std::string& name) {
  check(text, name_in(text, recipient_begin, ""), "recipient", name);
  const std::span<const std::byte> bytes = bytes_of(text);
  return {.kind = KeyKind::plugin, .public_key = {bytes.begin(), bytes.end()}};
}

Key parse_plugin_identity(std::string_view text, const std::string& name) {
  check(text, name_in(text, identity_begin, identity_end), "identity", name);
  return {.kind = KeyKind::plugin, .secret = secret_of(bytes_of(text))};
}

Key make_plugin_identity(std::string_view plugin) {
  if (!is_name(plugin)) throw UsageError(names_allowed, "the program of a plugin is age-plugin-NAME");
  const std::string prefix =
      fmt::format("{}{}{}", identity_begin, change_case(plugin, 'a', 'z'), identity_end);
  Key identity{.kind = KeyKind::plugin, .secret = Secret(bech32_characters(prefix.size(), 0))};
  encode_bech32(prefix, {}, identity.secret.bytes());
  return identity;
}

std::string plugin_name(const Key& key) {
  const std::string_view name = key.secret.size() > 0
                                    ? name_in(as_text(key.secret.bytes()), identity_begin, identity_end)
                                    : name_in(as_text(key.public_key), recipient_begin, "");
  return change_case(name, 'A', 'Z');
}

}  // namespace gpuaes
