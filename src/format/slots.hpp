// The key slots of the sealed format (gpuaes-stream(5), "Slots"): each holds the file key, wrapped for one
// key.
//
// To add a slot type: add its enumerator to SlotType, and complete the row of its kind of key in slots.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "format/format.hpp"
#include "keys/kdf.hpp"
#include "keys/keyring.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

inline constexpr std::size_t file_key_bytes = 32;

enum class SlotType : std::uint8_t { key_file = 0x01, passphrase = 0x02, x25519 = 0x03, xwing = 0x04 };

// One slot of a header; refers to the header's bytes.
struct Slot {
  std::size_t at;  // offset of its first byte in the input
  SlotType type;   // may be an unknown number
  std::span<const std::byte> body;
};

// How slots for one kind of key hold the file key. Without a type, the sealed format does not support the
// kind, and the rest is null.
struct SlotKind {
  KeyKind key;
  std::optional<SlotType> type = {};
  std::string_view name = {};       // for --info
  std::size_t parameter_bytes = 0;  // before the wrapped file key; with a KEM, its ciphertext is there

  // The body of a new slot. IoError or LaneError if libcrypto fails; UsageError for a recipient with an
  // X25519 key of low order, for which X25519 protects nothing.
  std::vector<std::byte> (*wrap)(const Secret& file_key, const Key& key, const StopCheck& check) = nullptr;

  // The file key; none if the key does not match the slot or the slot is damaged. AuthError if scrypt
  // parameters are outside the limits of gpuaes-stream(5): a header must not be able to exhaust a reader's
  // memory. Asks for the passphrase until one opens the slot.
  std::optional<Secret> (*unwrap)(const Slot& slot, const Key& key, const SessionRequest& request) = nullptr;
};

const SlotKind* find_slot_kind(SlotType type);  // null for an unknown type
const SlotKind* find_slot_kind(KeyKind key);    // null if the sealed format does not support it

// Whether a slot is for a recipient, so that anyone can make it.
bool is_for_recipient(const Slot& slot);

// A complete slot: type, size, body. The sealed format must have its kind.
std::vector<std::byte> make_slot(const Secret& file_key, const Key& key, const StopCheck& check);

// Parses `count` slots that fill `bytes` exactly and begin at byte `at` of the input. AuthError if a size is
// wrong or the slots cannot be combined; VersionError for a slot type that readers must not skip. With
// `bad_slot`, leaves out slots of a wrong type or size for their type, and stores the error of the first.
std::vector<Slot> parse_slots(std::span<const std::byte> bytes, std::size_t count, std::size_t at,
                              std::exception_ptr* bad_slot = nullptr);

}  // namespace gpuaes
