// The list of formats, and what can be done with any of them.
#include "format/format.hpp"
#include "io/armor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.hpp"
#include "base/text.hpp"

namespace gpuaes {
namespace {

// In the order of their names in messages.
constexpr std::array formats{std::cref(sealed_format), std::cref(age_format), std::cref(cobblestone_format),
                             std::cref(openssl_format), std::cref(raw_format)};

template <class Chosen>
std::vector<std::string_view> names_of(Chosen chosen) {
  std::vector<std::string_view> names;
  for (const Format& format : formats)
    if (chosen(format)) names.push_back(format.name);
  return names;
}

// An option that a format would ignore is an error.
void check_accepts(const Format& format, bool given, bool Accepts::*what, std::string_view what_text) {
  if (!given || format.accepts.*what) return;
  throw UsageError(fmt::format("the {} format does not accept {}", format.name, what_text),
                   list_hint("formats that accept it: {}", formats_that_accept(what)));
}

void check_cipher(const Format& format, Cipher cipher) {
  if (format.supports(cipher)) return;
  const auto supports_it = [cipher](const Format& each) { return each.supports(cipher); };
  throw UsageError(fmt::format("the {} format does not support {}", format.name, info(cipher).name),
                   list_hint("formats that support it: {}", names_of(supports_it)));
}

// The format whose magic the input begins with, or null.
const Format* find_by_magic(HeaderReader& input) {
  for (const Format& format : formats)
    if (input.begins_with(format.magic)) return &format;
  return nullptr;
}

[[noreturn]] void refuse_unnamed(const Format& format) {
  throw AuthError(
      fmt::format("the input appears to be in the {} format, which is not authenticated and must be named",
                  format.name),
      Advice::decrypt_with_openssl);
}

}  // namespace

Cipher choose_cipher(std::optional<Cipher> named, const Key& key) {
  for (const CipherInfo& each : ciphers) {
    const bool matches = named ? each.cipher == *named : each.family == Family::aes;
    if (matches && each.key_bytes == key.secret.size()) return each.cipher;
  }
  const CipherInfo& wanted = info(named.value_or(Cipher::aes_256));
  throw UsageError(fmt::format("{} requires a key of {} bytes; the key in {} is {} bytes long", wanted.name,
                               wanted.key_bytes, key.name, key.secret.size()));
}

std::vector<std::string_view> format_names() {
  return names_of([](const Format&) { return true; });
}

std::vector<std::string_view> formats_with_armor() {
  return names_of([](const Format& format) { return !format.armor.empty(); });
}

std::vector<std::string_view> authenticated_formats() {
  return names_of([](const Format& format) { return format.authenticated; });
}

std::vector<std::string_view> formats_that_accept(bool Accepts::*what) {
  return names_of([what](const Format& format) { return format.accepts.*what; });
}

const Format& find_format(std::string_view name) {
  const auto found = std::ranges::find(formats, name, &Format::name);
  if (found != formats.end()) return *found;
  throw UsageError(fmt::format("unknown format '{}'", name),
                   fmt::format("the formats are {}", join(format_names())));
}

const Format& format_to_write(const Keyring& keyring) {
  const bool only_recipients = keyring.has_recipient() && keyring.find(KeyKind::key_file) == nullptr &&
                               keyring.find(KeyKind::passphrase) == nullptr;
  return only_recipients ? age_format : sealed_format;
}

std::span<const std::reference_wrapper<const Format>> all_formats() {
  return formats;
}

const Format& detect_format(HeaderReader& input) {
  if (const Format* const format = find_by_magic(input)) return *format;
  if (input.peek(1).empty()) throw AuthError("the input is empty");
  refuse_foreign(input);
  throw UnknownFormat("the input is not in a known format", Advice::check_download);
}

const Format& detect_authenticated_format(HeaderReader& input) {
  const Format& format = detect_format(input);
  if (!format.authenticated) refuse_unnamed(format);
  return format;
}

void refuse_other_format(HeaderReader& input, std::string_view expected) {
  const Format* format = find_by_magic(input);
  for (const Format& each : formats)
    if (!each.armor.empty() && input.begins_with(armor_begin(each.armor))) format = &each;
  if (format != nullptr && format->name != expected) {
    if (!format->authenticated) refuse_unnamed(*format);
    throw AuthError(fmt::format("the input is in the {} format", format->name), Advice::omit_format);
  }
  refuse_foreign(input);
}

void check_label(const Format& format, const std::optional<std::string>& label) {
  if (label && !format.accepts.label)
    throw AuthError(
        fmt::format("the input is in the {} format, which has no labels; nothing was written", format.name),
        Advice::omit_label);
}

std::unique_ptr<Session> open_session(const Format& format, SessionRequest request) {
  Keyring& keyring = request.keyring;
  const auto check_recipients = [&] {
    check_accepts(format, keyring.has_recipient(), &Accepts::recipients,
                  request.decrypt ? "an identity" : "a recipient");
  };
  check_recipients();
  if (!format.accepts.recipients) keyring.unlock_all();  // nothing shows which key is needed
  check_recipients();
  const bool chooses_key = request.decrypt && format.accepts.recipients;
  check_accepts(format, keyring.count(KeyKind::key_file) > 1 && !chooses_key, &Accepts::keys,
                "more than one key");
  check_accepts(format, keyring.count(KeyKind::passphrase) > 0, &Accepts::passphrase, "a passphrase");
  check_accepts(format, request.iv.has_value(), &Accepts::iv, "an IV");
  check_accepts(format, request.context.has_value(), &Accepts::context, "a context");
  check_accepts(format, request.label.has_value(), &Accepts::label, "a label");
  check_accepts(format, request.iterations.has_value(), &Accepts::iterations, "a number of iterations");
  if (request.cipher) check_cipher(format, *request.cipher);
  return format.open(std::move(request));
}

}  // namespace gpuaes
