#include "format/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/rows.hpp"
#include "format/wrapped_keys.hpp"
#include "keys/recipient.hpp"
#include "keys/x25519.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t head_bytes = 3;  // type, be16 size of the body
constexpr std::size_t salt_bytes = 16;
constexpr std::size_t wrapped_bytes = file_key_bytes + tag_bytes;
constexpr std::size_t scrypt_bytes = 3;  // log2 N, r, p
constexpr std::size_t kek_bytes = 32;

constexpr unsigned written_log2_n = 17, min_log2_n = 10, max_log2_n = 20;
constexpr unsigned only_r = 8, only_p = 1;

constexpr std::string_view key_file_label = "gpuaes-stream/1 key file";
constexpr std::string_view passphrase_label = "gpuaes-stream/1 passphrase";

unsigned number(std::byte byte) {
  return std::to_integer<unsigned>(byte);
}

Secret kek_of_key(const Secret& key, std::span<const std::byte> salt) {
  return hkdf_sha512(key.bytes(), salt, bytes_of(key_file_label), kek_bytes);
}

Secret kek_of_passphrase(const Secret& passphrase, std::span<const std::byte> salt, unsigned log2_n,
                         const StopCheck& check) {
  const std::vector<std::byte> labeled_salt = concatenate(bytes_of(passphrase_label), salt);
  return scrypt(passphrase.bytes(), labeled_salt, log2_n, only_r, only_p, kek_bytes, check);
}

// A zero nonce is safe because no KEK is used twice: each is derived from a fresh salt or shared secret.
void append_wrapped(std::vector<std::byte>& slot, Secret kek, const Secret& file_key) {
  append(slot, wrap_file_key({Cipher::aes_256, std::move(kek)}, file_key));
}

std::optional<Secret> open_wrapped(const Slot& slot, Secret kek) {
  return unwrap_file_key({Cipher::aes_256, std::move(kek)}, slot.body.last(wrapped_bytes));
}

// Key files ---------------------------------------------------------------------------------------

std::vector<std::byte> wrap_for_key_file(const Secret& file_key, const Key& key, const StopCheck&) {
  std::vector<std::byte> body(salt_bytes);
  fill_random(body);
  append_wrapped(body, kek_of_key(key.secret, std::span(body).first(salt_bytes)), file_key);
  return body;
}

std::optional<Secret> unwrap_with_key_file(const Slot& slot, const Key& key, const SessionRequest&) {
  return open_wrapped(slot, kek_of_key(key.secret, slot.body.first(salt_bytes)));
}

// Passphrases -------------------------------------------------------------------------------------

std::vector<std::byte> wrap_for_passphrase(const Secret& file_key, const Key& key, const StopCheck& check) {
  const Secret passphrase = key.passphrase("", false).value();
  std::vector<std::byte> body;
  for (const unsigned parameter : {written_log2_n, only_r, only_p})
    body.push_back(static_cast<std::byte>(parameter));
  body.resize(scrypt_bytes + salt_bytes);
  const std::span<std::byte> salt = std::span(body).last(salt_bytes);
  fill_random(salt);
  append_wrapped(body, kek_of_passphrase(passphrase, salt, written_log2_n, check), file_key);
  return body;
}

void check_scrypt_parameters(const Slot& slot) {
  const unsigned log2_n = number(slot.body[0]), r = number(slot.body[1]), p = number(slot.body[2]);
  if (log2_n < min_log2_n || log2_n > max_log2_n || r != only_r || p != only_p)
    refuse_header(
        slot.at + head_bytes,
        fmt::format("the scrypt parameters log2 N = {}, r = {}, p = {} are not allowed", log2_n, r, p));
}

std::optional<Secret> unwrap_with_passphrase(const Slot& slot, const Key& key,
                                             const SessionRequest& request) {
  check_scrypt_parameters(slot);
  const std::span<const std::byte> salt = slot.body.subspan(scrypt_bytes, salt_bytes);
  return unwrap_with_answers(key, request.input_name, [&](const Secret& passphrase) {
    return open_wrapped(slot, kek_of_passphrase(passphrase, salt, number(slot.body[0]), request.check));
  });
}

// Recipients: these slots differ only in the KEM and its label ------------------------------------

Secret kek_of_shared(const Secret& shared, std::span<const std::byte> ciphertext,
                     const PublicBytes& recipient, std::string_view label) {
  return hkdf_sha512(shared.bytes(), concatenate(ciphertext, recipient), bytes_of(label), kek_bytes);
}

template <const char* label>
std::vector<std::byte> wrap_for_recipient(const Secret& file_key, const Key& key, const StopCheck&) {
  const Encapsulation made = encapsulate(key);
  std::vector<std::byte> body = made.ciphertext;
  append_wrapped(body, kek_of_shared(made.shared, made.ciphertext, key.public_key, label), file_key);
  return body;
}

template <const char* label>
std::optional<Secret> unwrap_with_identity(const Slot& slot, const Key& key, const SessionRequest&) {
  const Kem& kem = *info(key.kind).kem;
  if (!kem.is_available()) return std::nullopt;
  const std::span<const std::byte> ciphertext = slot.body.first(kem.ciphertext_bytes);
  if (!is_canonical(point_of(ciphertext.last(x25519_bytes)))) return std::nullopt;
  const std::optional<Secret> shared = kem.decapsulate(key.secret, ciphertext);
  if (!shared) return std::nullopt;
  return open_wrapped(slot, kek_of_shared(*shared, ciphertext, kem.public_key_of(key.secret), label));
}

constexpr char x25519_label[] = "gpuaes-stream/1 x25519", xwing_label[] = "gpuaes-stream/1 x-wing";

// The list ----------------------------------------------------------------------------------------

constexpr std::array slot_kinds{
    SlotKind{.key = KeyKind::key_file,
             .type = SlotType::key_file,
             .name = "key file",
             .parameter_bytes = salt_bytes,
             .wrap = wrap_for_key_file,
             .unwrap = unwrap_with_key_file},
    SlotKind{.key = KeyKind::x25519,
             .type = SlotType::x25519,
             .name = "X25519 recipient",
             .wrap = wrap_for_recipient<x25519_label>,
             .unwrap = unwrap_with_identity<x25519_label>},
    SlotKind{.key = KeyKind::xwing,
             .type = SlotType::xwing,
             .name = "X-Wing recipient",
             .wrap = wrap_for_recipient<xwing_label>,
             .unwrap = unwrap_with_identity<xwing_label>},
    SlotKind{.key = KeyKind::ssh_ed25519},
    SlotKind{.key = KeyKind::ssh_rsa},
    SlotKind{.key = KeyKind::p256},
    SlotKind{.key = KeyKind::ml_kem_p256},
    SlotKind{.key = KeyKind::plugin},
    SlotKind{.key = KeyKind::passphrase,
             .type = SlotType::passphrase,
             .name = "passphrase",
             .parameter_bytes = scrypt_bytes + salt_bytes,
             .wrap = wrap_for_passphrase,
             .unwrap = unwrap_with_passphrase},
};

static_assert(has_row_for_each(slot_kinds, &SlotKind::key));

// Unknown types from 01 to 7F are skipped: a later version may add such slots without changing the meaning of
// the others.
void check_type(const Slot& slot) {
  const auto type = static_cast<std::uint8_t>(slot.type);
  if (type == 0 || type >= 0x80)
    throw VersionError(
        fmt::format("the input has a slot of type {:02x} at byte {}, which this version does not support",
                    type, slot.at));
  const SlotKind* const kind = find_slot_kind(slot.type);
  if (kind == nullptr) return;
  const Kem* const kem = info(kind->key).kem;
  const std::size_t size = (kem != nullptr ? kem->ciphertext_bytes : kind->parameter_bytes) + wrapped_bytes;
  if (slot.body.size() != size)
    refuse_header(slot.at + 1, fmt::format("a slot of type {:02x} has {} bytes instead of {}", type,
                                           slot.body.size(), size));
}

// Anyone can seal for a recipient, so a passphrase slot next to a recipient slot would not show that the
// writer knew the passphrase. A single passphrase slot also limits the work that a header can demand of
// scrypt.
void check_combination(const std::vector<Slot>& slots) {
  const auto is_passphrase = [](const Slot& slot) { return slot.type == SlotType::passphrase; };
  const auto first = std::ranges::find_if(slots, is_passphrase);
  if (first == slots.end()) return;
  const auto second = std::find_if(first + 1, slots.end(), is_passphrase);
  if (second != slots.end()) refuse_header(second->at, "there is a second passphrase slot");
  for (const Slot& slot : slots)
    if (is_for_recipient(slot))
      refuse_header(slot.at, "there are slots for both a passphrase and a recipient");
}

}  // namespace

const SlotKind* find_slot_kind(SlotType type) {
  const auto found = std::ranges::find(slot_kinds, type, &SlotKind::type);
  return found != slot_kinds.end() ? &*found : nullptr;
}

const SlotKind* find_slot_kind(KeyKind key) {
  const SlotKind& kind = row_of(slot_kinds, key);
  return kind.type ? &kind : nullptr;
}

bool is_for_recipient(const Slot& slot) {
  const SlotKind* const kind = find_slot_kind(slot.type);
  return kind != nullptr && is_asymmetric(kind->key);
}

std::vector<std::byte> make_slot(const Secret& file_key, const Key& key, const StopCheck& check) {
  const SlotKind& kind = *find_slot_kind(key.kind);
  const std::vector<std::byte> body = kind.wrap(file_key, key, check);
  std::vector<std::byte> slot(head_bytes);
  slot.front() = static_cast<std::byte>(kind.type.value());
  store_big_endian(body.size(), std::span(slot).subspan(1));
  append(slot, body);
  return slot;
}

std::vector<Slot> parse_slots(std::span<const std::byte> bytes, std::size_t count, std::size_t at,
                              std::exception_ptr* bad_slot) {
  std::vector<Slot> slots;
  for (; slots.size() < count; bytes = bytes.subspan(head_bytes + slots.back().body.size())) {
    const std::size_t size = bytes.size() < head_bytes ? 0 : number(bytes[1]) << 8 | number(bytes[2]);
    if (bytes.size() < head_bytes + size) refuse_header(at, "the slots exceed their stated size");
    slots.push_back({at, SlotType{std::to_integer<std::uint8_t>(bytes[0])}, bytes.subspan(head_bytes, size)});
    at += head_bytes + size;
  }
  if (!bytes.empty()) refuse_header(at, "the slots do not fill their stated size");
  std::erase_if(slots, [bad_slot](const Slot& slot) {
    try {
      check_type(slot);
      return false;
    } catch (const Error&) {
      if (bad_slot == nullptr) throw;
      if (!*bad_slot) *bad_slot = std::current_exception();
      return true;
    }
  });
  check_combination(slots);
  return slots;
}

}  // namespace gpuaes
