#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/texts.hpp"
#include "format/formats.hpp"
#include "format/header_reader.hpp"
#include "format/sealed.hpp"

namespace gpuaes {
namespace {

// The list. To add a format: its line here and its own file.
constexpr std::array formats{
    Format{"sealed",
           true,
           sealed_magic,
           {.keys = true, .recipients = true, .passphrase = true, .label = true, .range = true},
           open_sealed,
           describe_sealed},
    Format{"cobblestone", true, {}, {.context = true, .range = true}, open_cobblestone, describe_cobblestone},
    Format{"openssl",
           false,
           openssl_magic,
           {.passphrase = true, .iterations = true},
           open_openssl,
           describe_openssl},
    Format{"raw", false, {}, {.iv = true, .range = true}, open_raw, describe_raw},
};

// The names of the formats that `chosen` holds for.
template <class Chosen>
std::string format_names(Chosen chosen) {
  std::string names;
  for (const Format& format : formats)
    if (chosen(format)) names.append(names.empty() ? "" : ", ").append(format.name);
  return names;
}

// Nothing that a user gave is passed over in silence.
void check_takes(const Format& format, bool given, bool Takes::*what, std::string_view what_text) {
  if (!given || format.takes.*what) return;
  throw UsageError(fmt::format(text::format_takes_none, format.name, what_text),
                   fmt::format(text::formats_that_take_hint,
                               format_names([what](const Format& each) { return each.takes.*what; })));
}

}  // namespace

Cipher choose_cipher(std::optional<Cipher> named, const GivenKey& key) {
  for (const CipherInfo& each : ciphers)
    if (each.key_bytes == key.size() && each.cipher == named.value_or(each.cipher)) return each.cipher;
  const CipherInfo& wanted = info(named.value_or(Cipher::aes_256));
  throw UsageError(fmt::format(text::key_length, wanted.name, wanted.key_bytes, key.name, key.size()));
}

void refuse_all_but_aes(std::optional<Cipher> named, std::string_view format) {
  if (named && !is_aes(*named))
    throw UsageError(fmt::format(text::aes_alone, format, info(*named).name), text::kuznyechik_hint);
}

const Format& find_format(std::string_view name) {
  const auto found = std::ranges::find(formats, name, &Format::name);
  if (found != formats.end()) return *found;
  throw UsageError(fmt::format(text::unknown_format, name),
                   fmt::format(text::formats_hint, format_names([](const Format&) { return true; })));
}

const Format& detect_format(HeaderReader& input) {
  for (const Format& format : formats) {
    if (format.magic.empty()) continue;
    if (std::ranges::equal(input.peek(format.magic.size()), bytes_of(format.magic))) return format;
  }
  const bool is_empty = input.peek(1).empty();
  throw AuthError(is_empty ? text::empty_input : text::unknown_input, text::unknown_input_hint);
}

const Format& detect_authenticated_format(HeaderReader& input) {
  const Format& format = detect_format(input);
  if (!format.authenticated)
    throw AuthError(fmt::format(text::must_be_named, format.name),
                    fmt::format(text::must_be_named_hint, format.name));
  return format;
}

std::unique_ptr<Session> open_session(const Format& format, SessionRequest request) {
  check_takes(format, request.keys.size() > 1, &Takes::keys, "second key");
  check_takes(format, !request.identities.empty(), &Takes::recipients, "identity");
  check_takes(format, !request.recipients.empty(), &Takes::recipients, "recipient");
  check_takes(format, static_cast<bool>(request.passphrase), &Takes::passphrase, "passphrase");
  check_takes(format, request.iv.has_value(), &Takes::iv, "--iv");
  check_takes(format, request.context.has_value(), &Takes::context, "--context");
  check_takes(format, request.label.has_value(), &Takes::label, "--label");
  check_takes(format, request.iterations.has_value(), &Takes::iterations, "--iter");
  return format.open(std::move(request));
}

}  // namespace gpuaes
