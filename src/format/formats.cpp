// The list of formats.
//
// To add a format:
//   1. its open_ and describe_ functions, in a file next to this one that CMakeLists.txt lists, and declared
//      in formats.hpp with its magic; make_ctr_session() and make_segment_session() (sessions.hpp) do the
//      body;
//   2. its row in the list below, with all of supports, open and describe. Decryption detects a format only
//   if it
//      authenticates and begins with a magic of its own;
//   3. what only it can make use of: in SessionRequest and Accepts (format.hpp), and in open_session() below;
//   4. its messages in base/texts.hpp;
//   5. its name in the text of -f (cli/options.cpp), in the manual page and in the README.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/texts.hpp"
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
  return info(cipher).suite && info(cipher).suite->number;
}

// The list. The first is the default.
constexpr std::array formats{
    Format{.name = "sealed",
           .authenticated = true,
           .magic = sealed_magic,
           .accepts = {.keys = true, .recipients = true, .passphrase = true, .label = true, .range = true},
           .supports = has_sealed_suite,
           .open = open_sealed,
           .describe = describe_sealed},
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
           .describe = describe_openssl},
    Format{.name = "raw",
           .authenticated = false,
           .accepts = {.iv = true, .range = true},
           .supports = is_one_of<Cipher::aes_128, Cipher::aes_192, Cipher::aes_256, Cipher::kuznyechik>,
           .open = open_raw,
           .describe = describe_raw},
};

static_assert(std::ranges::all_of(formats,
                                  [](const Format& each) {
                                    return each.supports != nullptr && each.open != nullptr &&
                                           each.describe != nullptr;
                                  }),
              "a row lacks a function");

constexpr std::string_view comma = ", ";

// "a, b and c", or with another last separator.
std::string join(const std::vector<std::string>& names, std::string_view last = " and ") {
  std::string joined;
  for (std::size_t i = 0; i < names.size(); ++i)
    joined.append(i == 0 ? "" : i + 1 < names.size() ? comma : last).append(names[i]);
  return joined;
}

template <class Chosen>
std::vector<std::string> names_of(Chosen chosen, NamedAs named = NamedAs::name) {
  std::vector<std::string> names;
  for (const Format& format : formats)
    if (chosen(format))
      names.push_back(std::string(named == NamedAs::option ? "-f " : "").append(format.name));
  return names;
}

auto accepts(bool Accepts::*what) {
  return [what](const Format& format) { return format.accepts.*what; };
}

// Nothing that a user gave is passed over in silence.
void check_accepts(const Format& format, bool given, bool Accepts::*what, std::string_view what_text) {
  if (!given || format.accepts.*what) return;
  throw UsageError(fmt::format(text::format_takes_none, format.name, what_text),
                   fmt::format(text::formats_that_take_hint, join(names_of(accepts(what)), comma)));
}

bool has_aes_alone(const Format& format) {
  return std::ranges::all_of(ciphers, [&](const CipherInfo& each) {
    return each.family == Family::aes || !format.supports(each.cipher);
  });
}

void check_cipher(const Format& format, Cipher cipher) {
  if (format.supports(cipher)) return;
  const CipherInfo& refused = info(cipher);
  if (has_aes_alone(format) && refused.family != Family::aes) {
    const auto has_it = [cipher](const Format& each) { return each.supports(cipher); };
    throw UsageError(fmt::format(text::aes_alone, format.name, refused.name),
                     fmt::format(text::formats_with_cipher_hint, join(names_of(has_it, NamedAs::option))));
  }
  std::vector<std::string> names;
  for (const CipherInfo& each : ciphers)
    if (format.supports(each.cipher)) names.emplace_back(each.name);
  const auto has_all = [](const Format& each) {
    return std::ranges::all_of(ciphers, each.supports, &CipherInfo::cipher);
  };
  throw UsageError(fmt::format(text::other_cipher_of_format, format.name, join(names), refused.name),
                   fmt::format(text::every_cipher_hint, join(names_of(has_all, NamedAs::option))));
}

}  // namespace

Cipher choose_cipher(std::optional<Cipher> named, const FileKey& key) {
  for (const CipherInfo& each : ciphers) {
    const bool is_meant = named ? each.cipher == *named : each.family == Family::aes;
    if (is_meant && each.key_bytes == key.size()) return each.cipher;
  }
  const CipherInfo& wanted = info(named.value_or(Cipher::aes_256));
  throw UsageError(fmt::format(text::key_length, wanted.name, wanted.key_bytes, key.name, key.size()));
}

std::string undetected_formats_hint() {
  const auto is_undetected = [](const Format& each) { return !each.authenticated || each.magic.empty(); };
  return fmt::format(text::unknown_input_hint, join(names_of(is_undetected, NamedAs::option)));
}

std::string authenticated_formats() {
  return join(names_of([](const Format& format) { return format.authenticated; }));
}

std::string formats_that_accept(bool Accepts::*what, NamedAs named) {
  return join(names_of(accepts(what), named));
}

const Format& find_format(std::string_view name) {
  const auto found = std::ranges::find(formats, name, &Format::name);
  if (found != formats.end()) return *found;
  const auto all = [](const Format&) { return true; };
  throw UsageError(fmt::format(text::unknown_format, name),
                   fmt::format(text::formats_hint, join(names_of(all), comma)));
}

const Format& default_format() {
  return formats.front();
}

const Format& detect_format(HeaderReader& input) {
  for (const Format& format : formats) {
    if (format.magic.empty()) continue;
    if (std::ranges::equal(input.peek(format.magic.size()), bytes_of(format.magic))) return format;
  }
  const bool is_empty = input.peek(1).empty();
  throw AuthError(is_empty ? text::empty_input : text::unknown_input, undetected_formats_hint());
}

const Format& detect_authenticated_format(HeaderReader& input) {
  const Format& format = detect_format(input);
  if (!format.authenticated)
    throw AuthError(fmt::format(text::must_be_named, format.name),
                    fmt::format(text::must_be_named_hint, format.name));
  return format;
}

std::unique_ptr<Session> open_session(const Format& format, SessionRequest request) {
  check_accepts(format, request.keys.size() > 1, &Accepts::keys, "more than one key");
  check_accepts(format, !request.identities.empty(), &Accepts::recipients, "an identity");
  check_accepts(format, !request.recipients.empty(), &Accepts::recipients, "a recipient");
  check_accepts(format, static_cast<bool>(request.passphrase), &Accepts::passphrase, "a passphrase");
  check_accepts(format, request.iv.has_value(), &Accepts::iv, "--iv");
  check_accepts(format, request.context.has_value(), &Accepts::context, "--context");
  check_accepts(format, request.label.has_value(), &Accepts::label, "--label");
  check_accepts(format, request.iterations.has_value(), &Accepts::iterations, "--iter");
  if (request.cipher) check_cipher(format, *request.cipher);
  return format.open(std::move(request));
}

}  // namespace gpuaes
