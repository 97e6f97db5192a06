// The list of formats.
//
// To add a format:
//   1. Write its open_ and describe_ functions in a new file in this folder, and list the file in
//      CMakeLists.txt. Declare the functions and the magic in formats.hpp. make_ctr_session() and
//      make_segment_session() (sessions.hpp) handle the body.
//   2. Add its row to the list below. Decryption detects a format only if it is authenticated and begins with
//      a magic of its own.
//   3. Add options that only this format uses to SessionRequest and Accepts (format.hpp), and handle them in
//      open_session() below.
//   4. Add its name to the text of -f (cli/stream_options.hpp), to the manual page and to the README.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "format/age_header.hpp"
#include "format/foreign.hpp"
#include "format/formats.hpp"
#include "format/header_reader.hpp"
#include "format/sealed.hpp"

namespace gpuaes {
namespace {

template <Cipher... listed>
constexpr bool is_one_of(Cipher cipher) {
  return ((cipher == listed) || ...);
}

bool has_sealed_suite(Cipher cipher) {
  return info(cipher).suite && info(cipher).suite->numbers;
}

// The first is the default.
constexpr std::array formats{
    Format{.name = "sealed",
           .authenticated = true,
           .magic = sealed_magic,
           .armor = "GPUAES-STREAM ENCRYPTED FILE",
           .accepts = {.keys = true, .recipients = true, .passphrase = true, .label = true, .range = true},
           .supports = has_sealed_suite,
           .open = open_sealed,
           .describe = describe_sealed,
           .rekey = rekey_sealed},
    Format{.name = "age",
           .authenticated = true,
           .magic = age_magic,
           .armor = "AGE ENCRYPTED FILE",
           .accepts = {.recipients = true, .passphrase = true, .range = true},
           .supports = is_one_of<Cipher::chacha20_poly1305>,
           .open = open_age,
           .describe = describe_age,
           .rekey = rekey_age},
    Format{.name = "cobblestone",
           .authenticated = true,
           .accepts = {.context = true, .range = true},
           .supports = is_one_of<Cipher::aes_128, Cipher::aes_256>,
           .open = open_cobblestone,
           .describe = describe_cobblestone},
    Format{.name = "openssl",
           .authenticated = false,
           .magic = openssl_magic,
           .accepts = {.passphrase = true, .iterations = true},
           .supports = is_one_of<Cipher::aes_128, Cipher::aes_192, Cipher::aes_256>,
           .open = open_openssl,
           .describe = describe_openssl,
           .may_be_cbc = true},
    Format{.name = "raw",
           .authenticated = false,
           .accepts = {.iv = true, .range = true},
           .supports = [](Cipher cipher) { return info(cipher).ctr.has_value(); },
           .open = open_raw,
           .describe = describe_raw},
};

static_assert(std::ranges::all_of(formats,
                                  [](const Format& each) {
                                    return each.supports != nullptr && each.open != nullptr &&
                                           each.describe != nullptr;
                                  }),
              "a row lacks a function");

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
    if (!format.magic.empty() && input.begins_with(format.magic)) return &format;
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

const Format& default_format() {
  return formats.front();
}

const Format& format_to_write(const Keyring& keyring) {
  const bool only_recipients = keyring.has_recipient() && keyring.find(KeyKind::key_file) == nullptr &&
                               keyring.find(KeyKind::passphrase) == nullptr;
  return only_recipients ? find_format("age") : default_format();
}

std::span<const Format> all_formats() {
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
  const Format* const format = find_by_magic(input);
  if (format != nullptr && format->name != expected) {
    if (!format->authenticated) refuse_unnamed(*format);
    throw AuthError(fmt::format("the input is in the {} format", format->name), Advice::omit_format);
  }
  refuse_foreign(input);
}

void check_label(const Format& format, const std::optional<std::string>& label) {
  if (label && format.authenticated && !format.accepts.label && !format.magic.empty())
    throw AuthError(
        fmt::format("the input is in the {} format, which has no labels; nothing was written", format.name),
        Advice::omit_label);
}

std::unique_ptr<Session> open_session(const Format& format, SessionRequest request) {
  const Keyring& keyring = request.keyring;
  check_accepts(format, keyring.count(KeyKind::key_file) > 1, &Accepts::keys, "more than one key");
  check_accepts(format, request.decrypt && keyring.has_recipient(), &Accepts::recipients, "an identity");
  check_accepts(format, keyring.has_recipient(), &Accepts::recipients, "a recipient");
  check_accepts(format, keyring.count(KeyKind::passphrase) > 0, &Accepts::passphrase, "a passphrase");
  check_accepts(format, request.iv.has_value(), &Accepts::iv, "an IV");
  check_accepts(format, request.context.has_value(), &Accepts::context, "a context");
  check_accepts(format, request.label.has_value(), &Accepts::label, "a label");
  check_accepts(format, request.iterations.has_value(), &Accepts::iterations, "a number of iterations");
  if (request.cipher) check_cipher(format, *request.cipher);
  return format.open(std::move(request));
}

}  // namespace gpuaes
