#include "format/stanzas.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/rows.hpp"
#include "base/text.hpp"
#include "format/slots.hpp"
#include "format/wrapped_keys.hpp"
#include "keys/kem.hpp"
#include "keys/recipient.hpp"
#include "keys/ssh_key.hpp"
#include "keys/x25519.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t wrapped_key_bytes = age_file_key_bytes + tag_bytes;
constexpr std::size_t wrap_key_bytes = 32;

[[noreturn]] void refuse(const Stanza& stanza, std::string_view what) {
  refuse_header(stanza.at, fmt::format("the {} stanza {}", stanza.type(), what));
}

void check_argument_count(const Stanza& stanza, std::size_t count) {
  if (stanza.arguments.size() != count)
    refuse(stanza, fmt::format("has {} instead of {}", counted(stanza.arguments.size(), "argument"), count));
}

void check_arguments(const Stanza& stanza, std::size_t count) {
  check_argument_count(stanza, count);
  if (stanza.body.size() != wrapped_key_bytes)
    refuse(stanza,
           fmt::format("has a body of {} bytes instead of {}", stanza.body.size(), wrapped_key_bytes));
}

std::vector<std::byte> decode_argument(const Stanza& stanza, std::size_t index, std::size_t size) {
  const auto bytes = decode_base64(stanza.arguments[index], Padding::none);
  if (!bytes || bytes->size() != size)
    refuse(stanza, fmt::format("has an argument that is not the Base64 of {} bytes", size));
  return *bytes;
}

WrapKey wrap_key_of(Secret key) {
  return {Cipher::chacha20_poly1305, std::move(key)};
}

// The type of the stanzas for keys of a kind.
std::string type_for(KeyKind kind) {
  return std::string(find_stanza_kind(kind)->type);
}

// Recipients: their stanzas differ in the KEM, and in how the shared secret becomes a key and a nonce ------

using DeriveWrapKey = WrapKey(const Key& key, const Secret& shared, std::span<const std::byte> share);

WrapKey x25519_wrap_key(const Key& key, const Secret& shared, std::span<const std::byte> share) {
  return wrap_key_of(hkdf_sha256(shared.bytes(), concatenate(share, recipient_of(key).public_key),
                                 bytes_of("age-encryption.org/v1/X25519"), wrap_key_bytes));
}

std::string hpke_info(KeyKind kind) {
  return "age-encryption.org/" + type_for(kind);
}

WrapKey hpke_wrap_key(const Key& key, const Secret& shared, std::span<const std::byte>) {
  HpkeContext context = hpke_key_schedule(info(key.kind).kem->hpke_id, shared, hpke_info(key.kind));
  WrapKey wrap_key = wrap_key_of(std::move(context.key));
  std::ranges::copy(context.nonce, std::as_writable_bytes(std::span(wrap_key.nonce.bytes)).begin());
  return wrap_key;
}

// The last argument: a ciphertext of the KEM.
std::vector<std::byte> decode_share(const Stanza& stanza) {
  const Kem& kem = *info(find_stanza_kind(stanza.type())->key).kem;
  return decode_argument(stanza, stanza.arguments.size() - 1, kem.ciphertext_bytes);
}

void check_recipient_stanza(const Stanza& stanza) {
  check_arguments(stanza, 2);
  decode_share(stanza);
}

template <DeriveWrapKey derive>
Stanza wrap_for_recipient(const Secret& file_key, const Key& key, const StopCheck&) {
  const Encapsulation made = encapsulate(key);
  return {{type_for(key.kind), encode_base64(made.ciphertext, Padding::none)},
          wrap_file_key(derive(key, made.shared, made.ciphertext), file_key)};
}

template <DeriveWrapKey derive>
std::optional<Secret> unwrap_with_identity(const Stanza& stanza, const Key& key, const SessionRequest&) {
  const Kem& kem = *info(key.kind).kem;
  if (!kem.is_available()) return std::nullopt;
  const std::vector<std::byte> share = decode_share(stanza);
  const std::optional<Secret> shared = kem.decapsulate(key.secret, share);
  if (!shared) refuse(stanza, "has a share of low order");
  return unwrap_file_key(derive(key, *shared, share), stanza.body);
}

// SSH keys: the argument after the type shows whose key opens the stanza -----------------------------------

std::string fingerprint_of(const Key& key) {
  return encode_base64(ssh_fingerprint(key.public_key), Padding::none);
}

WrapKey ssh_ed25519_wrap_key(const Key& key, const Secret& shared, std::span<const std::byte> share) {
  return wrap_key_of(hkdf_sha256(shared.bytes(), concatenate(share, x25519_key_of(key.public_key).value()),
                                 bytes_of(ssh_ed25519_label), wrap_key_bytes));
}

void check_ssh_ed25519_stanza(const Stanza& stanza) {
  check_arguments(stanza, 3);
  decode_argument(stanza, 1, ssh_fingerprint_bytes);
  decode_share(stanza);
}

Stanza wrap_for_ssh_ed25519(const Secret& file_key, const Key& key, const StopCheck& check) {
  Stanza stanza = wrap_for_recipient<ssh_ed25519_wrap_key>(file_key, key, check);
  stanza.arguments.insert(stanza.arguments.begin() + 1, fingerprint_of(key));
  return stanza;
}

// As in age 1.3. Another recipient's key may be larger than those that this program accepts.
constexpr std::size_t max_stanza_rsa_bits = 16384;

void check_ssh_rsa_stanza(const Stanza& stanza) {
  check_argument_count(stanza, 2);
  decode_argument(stanza, 1, ssh_fingerprint_bytes);
  const std::size_t size = stanza.body.size();
  if (size < min_rsa_bits / 8 || size > max_stanza_rsa_bits / 8)
    refuse(stanza, fmt::format("has a body of {} bytes", size));
}

Stanza wrap_for_ssh_rsa(const Secret& file_key, const Key& key, const StopCheck&) {
  return {{ssh_rsa_type, fingerprint_of(key)}, encrypt_ssh_rsa(key.public_key, file_key)};
}

std::optional<Secret> unwrap_with_ssh_rsa(const Stanza& stanza, const Key& key, const SessionRequest&) {
  std::optional<Secret> file_key = decrypt_ssh_rsa(key.public_key, key.secret, stanza.body);
  if (file_key && file_key->size() != age_file_key_bytes)
    refuse(stanza, fmt::format("has a file key of {} bytes", file_key->size()));
  return file_key;
}

// Tagged recipients: a tag tells hardware which stanza is its own -------------------------------------

constexpr std::size_t hardware_tag_bytes = 4;

// Depends on the point of the recipient, which comes last in its public key.
template <std::size_t point_bytes>
std::string tag_of(const Key& recipient, std::span<const std::byte> share) {
  const auto hash = sha256(std::span(recipient.public_key).last(point_bytes));
  const std::string label = hpke_info(recipient.kind);
  const Secret tag =
      hkdf_extract_sha256(bytes_of(label), concatenate(share, std::span(hash).first(hardware_tag_bytes)));
  return encode_base64(tag.bytes().first(hardware_tag_bytes), Padding::none);
}

template <std::size_t point_bytes>
Stanza wrap_with_tag(const Secret& file_key, const Key& key, const StopCheck&) {
  const Encapsulation made = encapsulate(key);
  return {{type_for(key.kind), tag_of<point_bytes>(key, made.ciphertext),
           encode_base64(made.ciphertext, Padding::none)},
          wrap_file_key(hpke_wrap_key(key, made.shared, made.ciphertext), file_key)};
}

void check_tagged_stanza(const Stanza& stanza) {
  check_arguments(stanza, 3);
  decode_argument(stanza, 1, hardware_tag_bytes);
  decode_share(stanza);
}

// Passphrases -----------------------------------------------------------------------------------------

constexpr std::size_t scrypt_salt_bytes = 16;
constexpr unsigned written_work_factor = 18, max_work_factor = 22;

WrapKey scrypt_wrap_key(const Secret& passphrase, std::span<const std::byte> salt, unsigned log2_n,
                        const StopCheck& check) {
  const std::vector<std::byte> labeled_salt = concatenate(bytes_of("age-encryption.org/v1/scrypt"), salt);
  return wrap_key_of(
      scrypt(passphrase.bytes(), labeled_salt, log2_n, scrypt_r, scrypt_p, wrap_key_bytes, check));
}

// The binary logarithm of the work factor. AuthError if it is malformed or above 22, which takes 4 GiB.
unsigned scrypt_work_factor(const Stanza& stanza) {
  const std::string& digits = stanza.arguments[2];
  if (digits.empty() || digits.front() == '0' || digits.find_first_not_of("0123456789") != digits.npos)
    refuse(stanza, "has a work factor that is not a decimal number");
  const std::optional<unsigned> log2_n = parse_number<unsigned>(digits);
  if (!log2_n || *log2_n > max_work_factor)
    refuse(stanza, fmt::format("has a work factor above 2^{}", max_work_factor));
  return *log2_n;
}

void check_scrypt_stanza(const Stanza& stanza) {
  check_arguments(stanza, 3);
  decode_argument(stanza, 1, scrypt_salt_bytes);
  scrypt_work_factor(stanza);
}

Stanza wrap_with_scrypt(const Secret& file_key, const Key& key, const StopCheck& check) {
  const Secret passphrase = key.passphrase("", false).value();
  std::array<std::byte, scrypt_salt_bytes> salt;
  fill_random(salt);
  return {{"scrypt", encode_base64(salt, Padding::none), std::to_string(written_work_factor)},
          wrap_file_key(scrypt_wrap_key(passphrase, salt, written_work_factor, check), file_key)};
}

std::optional<Secret> unwrap_with_passphrase(const Stanza& stanza, const Key& key,
                                             const SessionRequest& request) {
  const std::vector<std::byte> salt = decode_argument(stanza, 1, scrypt_salt_bytes);
  const unsigned log2_n = scrypt_work_factor(stanza);
  return unwrap_with_answers(key, request.input_name, [&](const Secret& passphrase) {
    return unwrap_file_key(scrypt_wrap_key(passphrase, salt, log2_n, request.check), stanza.body);
  });
}

// The list --------------------------------------------------------------------------------------------

constexpr std::array stanza_kinds{
    StanzaKind{.key = KeyKind::key_file},
    StanzaKind{.key = KeyKind::x25519,
               .type = "X25519",
               .wrap = wrap_for_recipient<x25519_wrap_key>,
               .check = check_recipient_stanza,
               .unwrap = unwrap_with_identity<x25519_wrap_key>},
    StanzaKind{.key = KeyKind::xwing,
               .type = "mlkem768x25519",
               .wrap = wrap_for_recipient<hpke_wrap_key>,
               .check = check_recipient_stanza,
               .unwrap = unwrap_with_identity<hpke_wrap_key>},
    StanzaKind{.key = KeyKind::ssh_ed25519,
               .type = ssh_ed25519_type,
               .wrap = wrap_for_ssh_ed25519,
               .check = check_ssh_ed25519_stanza,
               .tag = fingerprint_of,
               .unwrap = unwrap_with_identity<ssh_ed25519_wrap_key>},
    StanzaKind{.key = KeyKind::ssh_rsa,
               .type = ssh_rsa_type,
               .wrap = wrap_for_ssh_rsa,
               .check = check_ssh_rsa_stanza,
               .tag = fingerprint_of,
               .unwrap = unwrap_with_ssh_rsa},
    StanzaKind{.key = KeyKind::p256,
               .type = "p256tag",
               .wrap = wrap_with_tag<p256_compressed_bytes>,
               .check = check_tagged_stanza},
    StanzaKind{.key = KeyKind::ml_kem_p256,
               .type = "mlkem768p256tag",
               .wrap = wrap_with_tag<p256_point_bytes>,
               .check = check_tagged_stanza},
    StanzaKind{.key = KeyKind::plugin},
    StanzaKind{.key = KeyKind::passphrase,
               .type = "scrypt",
               .wrap = wrap_with_scrypt,
               .check = check_scrypt_stanza,
               .unwrap = unwrap_with_passphrase},
};

static_assert(has_row_for_each(stanza_kinds, &StanzaKind::key));

}  // namespace

const StanzaKind* find_stanza_kind(KeyKind key) {
  const StanzaKind& kind = row_of(stanza_kinds, key);
  return kind.type.empty() ? nullptr : &kind;
}

const StanzaKind* find_stanza_kind(std::string_view type) {
  if (type.empty()) return nullptr;  // that of kinds without stanzas
  const auto found = std::ranges::find(stanza_kinds, type, &StanzaKind::type);
  return found != stanza_kinds.end() ? &*found : nullptr;
}

std::string shown_fingerprint(const Stanza& stanza) {
  constexpr std::size_t complete_characters = ssh_fingerprint_bytes * 8 / 6;
  const StanzaKind* const kind = find_stanza_kind(stanza.type());
  if (kind == nullptr || !is_ssh(kind->key) || stanza.arguments.size() < 2) return {};
  const auto bytes = decode_base64(stanza.arguments[1], Padding::none);
  if (!bytes || bytes->size() != ssh_fingerprint_bytes) return {};
  return "SHA256:" + stanza.arguments[1].substr(0, complete_characters);
}

// A new file ------------------------------------------------------------------------------------------

namespace {

bool is_malformed(const Stanza& stanza, const StanzaKind& kind) {
  try {
    kind.check(stanza);
  } catch (const AuthError&) {
    return true;
  }
  const Kem* const kem = info(kind.key).kem;
  return kem != nullptr && !kem->is_ciphertext(*decode_base64(stanza.arguments.back(), Padding::none));
}

// PluginError if this program or age would refuse the stanza of a plugin and the file with it, whatever the
// key.
void check_stanza(const Stanza& stanza, const std::string& plugin) {
  if (stanza.arguments.size() > max_stanza_arguments)
    throw PluginError(fmt::format("the plugin {} made a stanza with {} arguments; at most {} are allowed",
                                  plugin, stanza.arguments.size(), max_stanza_arguments));
  const StanzaKind* const kind = find_stanza_kind(stanza.type());
  if (kind == nullptr) return;
  if (is_malformed(stanza, *kind))
    throw PluginError(fmt::format("the plugin {} made a malformed {} stanza", plugin, stanza.type()));
}

WrappedFileKey wrap(const Secret& file_key, const Key& key, const StopCheck& check) {
  if (key.plugin) {
    WrappedFileKey wrapped = key.plugin->wrap(key, file_key);
    for (const Stanza& stanza : wrapped.stanzas) check_stanza(stanza, plugin_name(key));
    return wrapped;
  }
  WrappedFileKey wrapped{{find_stanza_kind(key.kind)->wrap(file_key, key, check)}};
  if (is_post_quantum(key.kind)) wrapped.labels.push_back("postquantum");
  return wrapped;
}

// PluginError if the header would be too long to be read again, which only stanzas of plugins can cause.
void check_size(std::size_t stanzas, std::size_t header_bytes, const std::string& plugin) {
  if (stanzas > max_stanzas)
    throw PluginError(
        fmt::format("the plugin {} made too many stanzas; a file has at most {}", plugin, max_stanzas));
  if (header_bytes > max_age_header_bytes)
    throw PluginError(fmt::format("the plugin {} made stanzas that are too long; a header has at most {} MiB",
                                  plugin, max_age_header_bytes >> 20));
}

// PluginError if a plugin made a scrypt stanza that is not the only stanza.
void check_alone(const std::vector<Stanza>& stanzas, const std::vector<std::string>& plugins) {
  const auto scrypt = std::ranges::find_if(stanzas, [](const Stanza& each) {
    const StanzaKind* const kind = find_stanza_kind(each.type());
    return kind != nullptr && kind->key == KeyKind::passphrase;
  });
  if (scrypt == stanzas.end() || stanzas.size() == 1) return;
  throw PluginError(fmt::format(
      "incompatible recipients: the plugin {} made a scrypt stanza, which must be alone in a file",
      plugins[static_cast<std::size_t>(scrypt - stanzas.begin())]));
}

// PluginError if an ssh key would not be tried with all stanzas that have its tag, and a plugin made one of
// them. `plugins` has the name of the plugin for each stanza, or nothing.
void check_tags(const std::vector<Stanza>& stanzas, const std::vector<std::string>& plugins) {
  for (std::size_t i = 0; i < stanzas.size(); ++i) {
    const StanzaKind* const kind = find_stanza_kind(stanzas[i].type());
    if (plugins[i].empty() || kind == nullptr || kind->tag == nullptr) continue;
    const auto count = std::ranges::count_if(stanzas, [&](const Stanza& other) {
      return other.type() == kind->type && other.arguments[1] == stanzas[i].arguments[1];
    });
    if (std::cmp_greater(count, max_tagged_stanzas))
      throw PluginError(
          fmt::format("the plugin {} made too many {} stanzas with the tag {}; a file has at most {}",
                      plugins[i], kind->type, stanzas[i].arguments[1], max_tagged_stanzas));
  }
}

// "the label postquantum"
std::string describe_labels(const std::vector<std::string>& labels) {
  if (labels.empty()) return "no labels";
  return fmt::format("the label{} {}", labels.size() == 1 ? "" : "s", fmt::join(labels, ", "));
}

void check_labels(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  if (one == other) return;
  throw UsageError(fmt::format("incompatible recipients: one has {}, another has {}", describe_labels(one),
                               describe_labels(other)),
                   "only recipients with the same labels can be combined; a plugin chooses the labels of its "
                   "recipients");
}

}  // namespace

void check_new_stanzas(const Keyring& keyring) {
  if (keyring.find(KeyKind::key_file) != nullptr)
    throw UsageError("the age format does not accept a key file", Advice::seal_for_key_file);
  check_combination(keyring);
  if (keyring.keys.size() > max_stanzas)
    throw UsageError(fmt::format("the age format allows at most {} recipients", max_stanzas));
}

std::vector<Stanza> make_stanzas(const Secret& file_key, const Keyring& keyring, const StopCheck& check) {
  std::vector<Stanza> stanzas;
  std::optional<std::vector<std::string>> labels;  // of the first recipient
  std::vector<std::string> plugins;                // that made the stanzas
  std::string plugin;                              // the last one so far
  std::size_t header_bytes = make_age_header({}, file_key).size();
  for (const Key& key : keyring.keys) {
    if (key.plugin) plugin = plugin_name(key);
    WrappedFileKey wrapped = wrap(file_key, key, check);
    if (labels) check_labels(*labels, wrapped.labels);
    labels = std::move(wrapped.labels);
    for (const Stanza& stanza : wrapped.stanzas) header_bytes += text_of(stanza).size();
    std::ranges::move(wrapped.stanzas, std::back_inserter(stanzas));
    plugins.resize(stanzas.size(), key.plugin ? plugin : "");
    check_size(stanzas.size(), header_bytes, plugin);
  }
  check_alone(stanzas, plugins);
  check_tags(stanzas, plugins);
  return stanzas;
}

}  // namespace gpuaes
