// The age format, age-encryption.org/v1 (c2sp.org/age): a header of stanzas, then a payload in segments of 64
// KiB.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "format/age_header.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "format/sessions.hpp"
#include "format/stanzas.hpp"
#include "format/wrapped_keys.hpp"
#include "keys/kdf.hpp"
#include "keys/ml_kem.hpp"
#include "keys/recipient.hpp"

namespace gpuaes {
namespace {

using PayloadNonce = std::array<std::byte, 16>;
constexpr std::size_t payload_key_bytes = 32, identifier_bytes = 32;

SegmentStream payload(const Secret& file_key, std::span<const std::byte> nonce) {
  return {.key = {Cipher::chacha20_poly1305,
                  hkdf_sha256(file_key.bytes(), nonce, bytes_of("payload"), payload_key_bytes)},
          .rules = age_segments,
          .base_nonce = {{}, info(Cipher::chacha20_poly1305).aead.nonce_bytes}};
}

// The header, and the nonce of the payload.
std::vector<std::byte> make_header(const Secret& file_key, const PayloadNonce& nonce, const Keyring& keyring,
                                   const StopCheck& check) {
  std::vector<std::byte> header = make_age_header(make_stanzas(file_key, keyring, check), file_key);
  append(header, nonce);
  return header;
}

std::unique_ptr<Session> encrypt(const SessionRequest& request) {
  check_new_stanzas(request.keyring);
  const Secret file_key = random_secret(age_file_key_bytes);
  PayloadNonce nonce;
  fill_random(nonce);
  SegmentStream stream = payload(file_key, nonce);
  stream.header = make_header(file_key, nonce, request.keyring, request.check);
  return make_segment_session(std::move(stream));
}

HeaderKeys keys_of(const AgeHeader& header) {
  HeaderKeys keys{"stanza", {}};
  for (const Stanza& stanza : header.stanzas) {
    const StanzaKind* const kind = find_stanza_kind(stanza.type());
    keys.kinds.push_back(kind != nullptr ? std::optional(kind->key) : std::nullopt);
  }
  return keys;
}

// A passphrase must be alone: a file that it opens was written by someone who knew it.
void check_stanzas(const AgeHeader& header, const Keyring& keyring) {
  for (const Stanza& stanza : header.stanzas) {
    const StanzaKind* const kind = find_stanza_kind(stanza.type());
    if (kind == nullptr) continue;
    if (kind->key == KeyKind::passphrase && header.stanzas.size() > 1)
      refuse_header(stanza.at, "a scrypt stanza must be the only one");
    if (keyring.count(kind->key) > 0) kind->check(stanza);
  }
}

// "X25519, ssh-rsa": each type once, for a message. Only the first ones, and their beginnings, if there is
// more.
std::string describe_types(const AgeHeader& header) {
  constexpr std::size_t max_types = 8;
  std::vector<std::string> types;
  for (const Stanza& stanza : header.stanzas) {
    const std::string type = shortened(stanza.type());
    if (std::ranges::count(types, type) == 0) types.push_back(type);
    if (types.size() == max_types) break;
  }
  return fmt::format("{}", fmt::join(types, ", "));
}

// The stanzas of the key's kind and, for an SSH key, with its tag. AuthError if one of the kind is malformed.
std::vector<std::span<const Stanza>> stanzas_for(const AgeHeader& header, const Key& key) {
  std::vector<std::span<const Stanza>> stanzas;
  const StanzaKind* const kind = find_stanza_kind(key.kind);
  if (kind == nullptr) return stanzas;
  const auto tag = kind->tag != nullptr ? std::optional(kind->tag(key)) : std::nullopt;
  for (const Stanza& stanza : header.stanzas) {
    if (stanza.type() != kind->type) continue;
    kind->check(stanza);
    if (!tag || stanza.arguments[1] == *tag) stanzas.push_back({&stanza, 1});
  }
  return stanzas;
}

// For a message; empty if each ssh key was tried with all stanzas that have its tag.
std::string describe_untried(const AgeHeader& header, const Keyring& keyring) {
  for (const Key& key : keyring.keys) {
    const std::size_t count = is_ssh(key.kind) ? stanzas_for(header, key).size() : 0;
    if (count > max_tagged_stanzas)
      return fmt::format("; only the first {} of {} stanzas with the tag of an SSH key were tried",
                         max_tagged_stanzas, count);
  }
  return {};
}

// If no plugin was tried, which can open stanzas of any kind: IoError if this program cannot try any stanza
// that it knows, otherwise KeyError if it knows one.
void refuse_untried(const AgeHeader& header, const Keyring& keyring, const std::string& types) {
  const auto can_try = [](KeyKind kind) {
    const Kem* const kem = info(kind).kem;
    return kem == nullptr || find_stanza_kind(kind)->unwrap == nullptr || kem->is_available();
  };
  const HeaderKeys keys = keys_of(header);
  const std::vector<KeyKind> kinds = keys.supported();
  if (!kinds.empty() && std::ranges::none_of(kinds, can_try))
    throw IoError(lacks_ml_kem(), lacks_ml_kem_hint);
  if (!kinds.empty()) refuse_keyring(keys, keyring, fmt::format(", which has stanzas of type {}", types));
  if (keyring.none_given)
    throw UnsuitableInput(
        fmt::format("no key or passphrase was given; the input has stanzas of type {}", types),
        Advice::name_identity_file);
}

[[noreturn]] void refuse_secrets(const AgeHeader& header, const Keyring& keyring) {
  const std::string types = describe_types(header) + describe_untried(header, keyring);
  if (!keyring.has_plugin()) refuse_untried(header, keyring, types);
  throw KeyError(fmt::format("none of the given secrets opens the input, which has stanzas of type {}{}",
                             types, describe_unusable(keyring)));
}

// What to try with a key, one after another: single stanzas, or all at once for a plugin.
std::vector<std::span<const Stanza>> attempts(const AgeHeader& header, const Key& key) {
  if (key.plugin) return {header.stanzas};
  std::vector<std::span<const Stanza>> stanzas = stanzas_for(header, key);
  if (is_ssh(key.kind) && stanzas.size() > max_tagged_stanzas) stanzas.resize(max_tagged_stanzas);
  return stanzas;
}

// Whether a file of keys may contain one for the header.
bool may_open(const AgeHeader& header, const LockedKeys& file) {
  if (file.recipient != nullptr) return !stanzas_for(header, *file.recipient).empty();
  return keys_of(header).supported() != std::vector{KeyKind::passphrase};
}

// Keeps the error of the first plugin that fails in `failure`.
std::optional<Secret> unwrap(std::span<const Stanza> stanzas, const Key& key, const SessionRequest& request,
                             std::exception_ptr& failure) {
  if (request.check) request.check();
  if (!key.plugin) return find_stanza_kind(key.kind)->unwrap(stanzas.front(), key, request);
  try {
    return key.plugin->unwrap(key, stanzas);
  } catch (const PluginError& error) {
    if (request.detail) request.detail(error.what());
    if (!failure) failure = std::current_exception();
    return std::nullopt;
  }
}

// The file keys that stanzas yield, until the MAC confirms one, which is then the only one. If it confirms
// none: AuthError, after a wrong one of a plugin only if no other key opens the header; with
// SessionRequest::salvage, all of them, since the payload shows which is right. PluginError if a plugin
// failed, and the error of a locked file, if nothing else opens the header.
class Unwrapping {
 public:
  Unwrapping(const AgeHeader& header, SessionRequest& request) : header_(header), request_(request) {}

  std::vector<Secret> run() {
    const std::exception_ptr locked = try_keys(
        request_.keyring, [this](const LockedKeys& file) { return may_open(header_, file); },
        [this](const Key& key) { return opens(key); });
    if (confirmed_) return std::move(unwrapped_);
    if (!wrong_plugin_.empty())
      refuse_header(
          header_.mac_at,
          fmt::format("the header or its MAC was modified, or the plugin {} returned a wrong file key",
                      wrong_plugin_));
    if (unwrapped_.empty()) {
      for (const std::exception_ptr& failure : {failure_, locked})
        if (failure) std::rethrow_exception(failure);
      refuse_secrets(header_, request_.keyring);
    }
    request_.salvage(
        fmt::format("the header, which ends at byte {}, is corrupt, but the given secret opens one of its "
                    "stanzas; if it was "
                    "modified on purpose, other recipients may see another plaintext",
                    header_.bytes.size()));
    return std::move(unwrapped_);
  }

 private:
  bool opens(const Key& key) {
    for (const std::span<const Stanza> stanzas : attempts(header_, key)) {
      std::optional<Secret> file_key = unwrap(stanzas, key, request_, failure_);
      if (!file_key) continue;
      confirmed_ = has_correct_mac(header_, *file_key);
      if (confirmed_) {
        if (request_.detail) request_.detail(fmt::format("{} opens the input", describe(key)));
        unwrapped_.clear();
      } else if (!request_.salvage) {
        if (!key.plugin)
          refuse_header(header_.mac_at, "the header or its MAC was modified", Advice::recover_undamaged);
        wrong_plugin_ = plugin_name(key);
        continue;
      }
      unwrapped_.push_back(std::move(*file_key));
      if (confirmed_) return true;
    }
    return false;
  }

  const AgeHeader& header_;
  SessionRequest& request_;
  std::vector<Secret> unwrapped_;
  bool confirmed_ = false;
  std::exception_ptr failure_;  // of a plugin
  std::string wrong_plugin_;    // whose file key the MAC does not confirm
};

// At least one file key. The errors are those of open_slots().
std::vector<Secret> open_stanzas(const AgeHeader& header, SessionRequest& request) {
  check_stanzas(header, request.keyring);
  check_any_given(keys_of(header), request.keyring);
  return Unwrapping(header, request).run();
}

AgeHeader expect_age_header(HeaderReader& input) {
  if (!input.begins_with(age_magic)) {
    refuse_other_format(input, "age");
    throw AuthError("the input is not in the age format: it does not begin with 'age-encryption.org/'",
                    Advice::check_download);
  }
  return read_age_header(input);
}

std::unique_ptr<Session> open_payload(const Secret& file_key, const PayloadNonce& nonce,
                                      std::uint64_t header_bytes) {
  SegmentStream stream = payload(file_key, nonce);
  stream.decrypt = true;
  stream.place.input_bytes = header_bytes;
  const Secret identifier =
      hkdf_sha256(file_key.bytes(), nonce, bytes_of("gpuaes-stream/1 age file"), identifier_bytes);
  append(stream.commitment, identifier.bytes());
  return make_segment_session(std::move(stream));
}

std::unique_ptr<Session> decrypt(SessionRequest& request) {
  HeaderReader& input = *request.input;
  const AgeHeader header = expect_age_header(input);
  const std::vector<Secret> file_keys = open_stanzas(header, request);
  PayloadNonce nonce;
  input.take(nonce);
  std::unique_ptr<Session> session;
  for (const Secret& file_key : file_keys) {
    session = open_payload(file_key, nonce, input.taken());
    if (file_keys.size() == 1 || !request.opens_segment || request.opens_segment(*session)) break;
  }
  if (request.salvage && request.separate_header && !request.opens_segment(*session))
    throw AuthError("no segment of the input opens with this header");
  return session;
}

SlotDescription describe_stanza(const Stanza& stanza) {
  SlotDescription description{.type = {}, .kind = stanza.type(), .scrypt = {}};
  if (stanza.type() == "scrypt" && stanza.arguments.size() == 3)
    if (const auto log2_n = parse_number<unsigned>(stanza.arguments[2]))
      description.scrypt = ScryptParameters{*log2_n, scrypt_r, scrypt_p};
  description.fingerprint = shown_fingerprint(stanza);
  return description;
}

bool is_age_cipher(Cipher cipher) {
  return cipher == Cipher::chacha20_poly1305;
}

std::unique_ptr<Session> open_age(SessionRequest request) {
  return request.decrypt ? decrypt(request) : encrypt(request);
}

Description describe_age(HeaderReader& input) {
  const AgeHeader header = expect_age_header(input);
  PayloadNonce nonce;
  input.take(nonce);
  Description description{.version = 1,
                          .cipher = Cipher::chacha20_poly1305,
                          .slot_noun = "stanza",
                          .message_bytes = nonce.size(),
                          .segments = age_segments};
  for (const Stanza& stanza : header.stanzas) description.slots.push_back(describe_stanza(stanza));
  return description;
}

NewHeader rekey_age(SessionRequest& request, const Keyring& new_keys) {
  check_new_stanzas(new_keys);
  const AgeHeader header = expect_age_header(*request.input);
  const std::vector<KeyKind> kinds = keys_of(header).supported();
  if (new_keys.find(KeyKind::passphrase) != nullptr && std::ranges::count(kinds, KeyKind::passphrase) == 0)
    throw UnsuitableInput(
        "the input was encrypted for recipients, so anyone could have written it, and a passphrase would not "
        "show that",
        "decrypt the input, and encrypt it with the passphrase");
  const Secret file_key = std::move(open_stanzas(header, request).front());
  PayloadNonce nonce;
  request.input->take(nonce);
  NewHeader made{.bytes = make_header(file_key, nonce, new_keys, request.check),
                 .old_recipients = kinds,
                 .old_slots = header.stanzas.size(),
                 .slot_noun = "stanza",
                 .copy_warning =
                     "age requires a file key of its own for each file; replace the input with the "
                     "output instead of keeping both"};
  std::erase(made.old_recipients, KeyKind::passphrase);
  HeaderReader new_header = reader_of(made.bytes);
  made.new_slots = expect_age_header(new_header).stanzas.size();
  return made;
}

}  // namespace

// Requires recipients (identities for decryption) or a passphrase.
constinit const Format age_format{
    .name = "age",
    .authenticated = true,
    .magic = age_magic,
    .armor = "AGE ENCRYPTED FILE",
    .accepts = {.recipients = true, .passphrase = true, .range = true},
    .supports = is_age_cipher,
    .open = open_age,
    .describe = describe_age,
    .rekey = rekey_age,
};

}  // namespace gpuaes
