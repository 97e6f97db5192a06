// The key slots of the sealed format (gpuaes-stream(5), "Slots"): each holds the file key, wrapped for one
// secret.
//
// To add a slot type: add its enumerator to SlotType, the size of its body to slots.cpp, its name to
// sealed.cpp, and messages about it to sealed_header.cpp. If it is for the recipients of a new KEM, add a row
// to recipient_slots in slots.cpp, otherwise code that makes and tries its slots to sealed_header.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "keys/kdf.hpp"
#include "keys/recipient.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

inline constexpr std::size_t file_key_bytes = 32;

enum class SlotType : std::uint8_t { key_file = 0x01, passphrase = 0x02, x25519 = 0x03, xwing = 0x04 };

// The KEM of a type of recipient slot; none for other types.
std::optional<Kem> kem_of(SlotType type);

// One slot of a header; refers to the header's bytes.
struct Slot {
  std::size_t at;  // offset of its first byte in the input
  SlotType type;   // may be an unknown number
  std::span<const std::byte> body;
};

// Complete slots: type, size, body. The key is 32 bytes long. IoError or LaneError if libcrypto fails;
// UsageError for a recipient with an X25519 key of low order, for which X25519 protects nothing.
std::vector<std::byte> make_key_slot(const Secret& file_key, const Secret& key);
std::vector<std::byte> make_passphrase_slot(const Secret& file_key, const Secret& passphrase,
                                            const StopCheck& check);
std::vector<std::byte> make_recipient_slot(const Secret& file_key, const Recipient& recipient);

// Parses `count` slots that fill `bytes` exactly and begin at byte `at` of the input. AuthError if a size is
// wrong or the slots cannot be combined; VersionError for a slot type that readers must not skip. With
// `bad_slot`, leaves out slots of a wrong type or size for their type, and stores the error of the first.
std::vector<Slot> parse_slots(std::span<const std::byte> bytes, std::size_t count, std::size_t at,
                              std::exception_ptr* bad_slot = nullptr);

// The file key; none if the secret does not match the slot or the slot is damaged.
std::optional<Secret> unwrap(const Slot& slot, const Secret& key);
std::optional<Secret> unwrap_with_passphrase(const Slot& slot, const Secret& passphrase,
                                             const StopCheck& check);
std::optional<Secret> unwrap_with_identity(const Slot& slot, const Identity& identity);  // of the slot's KEM

// AuthError if the scrypt parameters of a passphrase slot are outside the limits of gpuaes-stream(5),
// "Slots". A header must not be able to exhaust a reader's memory.
void check_scrypt_parameters(const Slot& slot);

// Throws AuthError: `what` is wrong at byte `at` of the input.
[[noreturn]] void refuse_header(std::size_t at, std::string_view what);

}  // namespace gpuaes
