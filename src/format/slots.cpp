#include "format/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "cipher/modes/evp_aead.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t head_bytes = 3;  // type, be16 size of the body
constexpr std::size_t salt_bytes = 16;
constexpr std::size_t wrapped_bytes = file_key_bytes + tag_bytes;
constexpr std::size_t parameter_bytes = 3;  // log2 N, r, p
constexpr std::size_t kek_bytes = 32;

constexpr unsigned written_log2_n = 17, min_log2_n = 10, max_log2_n = 20;
constexpr unsigned only_r = 8, only_p = 1;

constexpr std::string_view key_file_label = "gpuaes-stream/1 key file";
constexpr std::string_view passphrase_label = "gpuaes-stream/1 passphrase";

// The slots for recipients. They differ only in the KEM.
struct RecipientSlots {
  SlotType type;
  Kem kem;
  std::string_view label;
};
constexpr std::array recipient_slots{RecipientSlots{SlotType::x25519, Kem::x25519, "gpuaes-stream/1 x25519"},
                                     RecipientSlots{SlotType::xwing, Kem::xwing, "gpuaes-stream/1 x-wing"}};

const RecipientSlots& slots_of(Kem kem) {
  return *std::ranges::find(recipient_slots, kem, &RecipientSlots::kem);
}

unsigned number(std::byte byte) {
  return std::to_integer<unsigned>(byte);
}

// The size of a slot's body; none if the type is unknown.
std::optional<std::size_t> body_bytes(SlotType type) {
  switch (type) {
    case SlotType::key_file:
      return salt_bytes + wrapped_bytes;
    case SlotType::passphrase:
      return parameter_bytes + salt_bytes + wrapped_bytes;
    case SlotType::x25519:
    case SlotType::xwing:
      return info(*kem_of(type)).ciphertext_bytes + wrapped_bytes;
  }
  return std::nullopt;
}

Secret kek_of_key(const Secret& key, std::span<const std::byte> salt) {
  return hkdf_sha512(key.bytes(), salt, bytes_of(key_file_label), kek_bytes);
}

Secret kek_of_passphrase(const Secret& passphrase, std::span<const std::byte> salt, unsigned log2_n,
                         const StopCheck& check) {
  std::vector<std::byte> labeled_salt;
  append(labeled_salt, bytes_of(passphrase_label));
  append(labeled_salt, salt);
  return scrypt(passphrase.bytes(), labeled_salt, log2_n, only_r, only_p, kek_bytes, check);
}

Secret kek_of_shared(const Secret& shared, std::span<const std::byte> ciphertext,
                     const Recipient& recipient) {
  std::vector<std::byte> salt(ciphertext.size() + recipient.public_key.size());
  const auto rest = std::ranges::copy(ciphertext, salt.begin()).out;
  std::ranges::copy(recipient.public_key, rest);
  return hkdf_sha512(shared.bytes(), salt, bytes_of(slots_of(recipient.kem).label), kek_bytes);
}

// A zero nonce is safe because no KEK is used twice: each is derived from a fresh salt or shared secret.
constexpr Nonce zero_nonce{{}, 12};

void append_wrapped(std::vector<std::byte>& slot, const Secret& kek, const Secret& file_key) {
  const std::size_t at = slot.size();
  slot.resize(at + wrapped_bytes);
  const std::span<std::byte> wrapped = std::span(slot).subspan(at);
  EvpAead(Cipher::aes_256, kek.bytes(), EvpAead::Use::seal)
      .seal(zero_nonce, {}, file_key.bytes(), wrapped.first(file_key_bytes), wrapped.subspan(file_key_bytes));
}

std::optional<Secret> open_wrapped(const Slot& slot, const Secret& kek) {
  const std::span<const std::byte> wrapped = slot.body.last(wrapped_bytes);
  Secret file_key(file_key_bytes);
  if (!EvpAead(Cipher::aes_256, kek.bytes(), EvpAead::Use::open)
           .open(zero_nonce, {}, wrapped.first(file_key_bytes), wrapped.subspan(file_key_bytes),
                 file_key.bytes()))
    return std::nullopt;
  return file_key;
}

std::vector<std::byte> begin_slot(SlotType type) {
  std::vector<std::byte> slot(head_bytes);
  slot.front() = static_cast<std::byte>(type);
  store_big_endian(*body_bytes(type), std::span(slot).subspan(1));
  return slot;
}

// Unknown types from 01 to 7F are skipped: a later version may add such slots without changing the meaning of
// the others.
void check_type(const Slot& slot) {
  const auto type = static_cast<std::uint8_t>(slot.type);
  if (type == 0 || type >= 0x80)
    throw VersionError(
        fmt::format("the input has a slot of type {:02x} at byte {}, which this version does not support",
                    type, slot.at));
  const std::optional<std::size_t> size = body_bytes(slot.type);
  if (size && slot.body.size() != *size)
    refuse_header(slot.at + 1, fmt::format("a slot of type {:02x} has {} bytes instead of {}", type,
                                           slot.body.size(), *size));
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
    if (kem_of(slot.type)) refuse_header(slot.at, "there are slots for both a passphrase and a recipient");
}

}  // namespace

void refuse_header(std::size_t at, std::string_view what) {
  throw AuthError(
      fmt::format("the input is corrupt at byte {}, in its header: {}; nothing was written", at, what));
}

std::optional<Kem> kem_of(SlotType type) {
  const auto found = std::ranges::find(recipient_slots, type, &RecipientSlots::type);
  return found != recipient_slots.end() ? std::optional(found->kem) : std::nullopt;
}

std::vector<std::byte> make_key_slot(const Secret& file_key, const Secret& key) {
  std::vector<std::byte> slot = begin_slot(SlotType::key_file);
  slot.resize(head_bytes + salt_bytes);
  const std::span<std::byte> salt = std::span(slot).last(salt_bytes);
  fill_random(salt);
  append_wrapped(slot, kek_of_key(key, salt), file_key);
  return slot;
}

std::vector<std::byte> make_passphrase_slot(const Secret& file_key, const Secret& passphrase,
                                            const StopCheck& check) {
  std::vector<std::byte> slot = begin_slot(SlotType::passphrase);
  for (const unsigned parameter : {written_log2_n, only_r, only_p})
    slot.push_back(static_cast<std::byte>(parameter));
  slot.resize(slot.size() + salt_bytes);
  const std::span<std::byte> salt = std::span(slot).last(salt_bytes);
  fill_random(salt);
  append_wrapped(slot, kek_of_passphrase(passphrase, salt, written_log2_n, check), file_key);
  return slot;
}

std::vector<std::byte> make_recipient_slot(const Secret& file_key, const Recipient& recipient) {
  const std::optional<Encapsulation> made = info(recipient.kem).encapsulate(recipient.public_key);
  if (!made)
    throw UsageError(
        fmt::format("recipient {} contains a low-order X25519 point", shown_recipient(text_of(recipient))),
        "a file that is sealed for it is not protected by X25519; ask for another recipient");
  std::vector<std::byte> slot = begin_slot(slots_of(recipient.kem).type);
  append(slot, made->ciphertext);
  append_wrapped(slot, kek_of_shared(made->shared, made->ciphertext, recipient), file_key);
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

std::optional<Secret> unwrap(const Slot& slot, const Secret& key) {
  return open_wrapped(slot, kek_of_key(key, slot.body.first(salt_bytes)));
}

std::optional<Secret> unwrap_with_passphrase(const Slot& slot, const Secret& passphrase,
                                             const StopCheck& check) {
  return open_wrapped(slot, kek_of_passphrase(passphrase, slot.body.subspan(parameter_bytes, salt_bytes),
                                              number(slot.body[0]), check));
}

std::optional<Secret> unwrap_with_identity(const Slot& slot, const Identity& identity) {
  const KemInfo& kem = info(identity.kem);
  const std::span<const std::byte> ciphertext = slot.body.first(kem.ciphertext_bytes);
  const std::optional<Secret> shared = kem.decapsulate(identity.private_key, ciphertext);
  if (!shared) return std::nullopt;
  return open_wrapped(slot, kek_of_shared(*shared, ciphertext, recipient_of(identity)));
}

void check_scrypt_parameters(const Slot& slot) {
  const unsigned log2_n = number(slot.body[0]), r = number(slot.body[1]), p = number(slot.body[2]);
  if (log2_n < min_log2_n || log2_n > max_log2_n || r != only_r || p != only_p)
    refuse_header(
        slot.at + head_bytes,
        fmt::format("the scrypt parameters log2 N = {}, r = {}, p = {} are not allowed", log2_n, r, p));
}

}  // namespace gpuaes
