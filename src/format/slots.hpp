// The key slots of the sealed format (gpuaes-stream(5), "Slots"): each holds the file key,
// wrapped for one secret.
//
// To add a type of slot: its name here, the size of its body in slots.cpp, and where it is made and tried in
// sealed_header.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "keys/kdf.hpp"
#include "keys/recipient.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

inline constexpr std::size_t file_key_bytes = 32;

enum class SlotType : std::uint8_t { key_file = 0x01, passphrase = 0x02, x25519 = 0x03 };

// One slot of a header, which has to outlive it.
struct Slot {
  std::size_t at;  // of its first byte in the input
  SlotType type;   // or another number
  std::span<const std::byte> body;
};

// Whole slots: type, size, body. The key has 32 bytes. IoError, LaneError when libcrypto fails; UsageError
// for a recipient whose slot anybody could open.
std::vector<std::byte> make_key_slot(const Secret& file_key, const Secret& key);
std::vector<std::byte> make_passphrase_slot(const Secret& file_key, const Secret& passphrase,
                                            const Check& check);
std::vector<std::byte> make_recipient_slot(const Secret& file_key, const PublicKey& recipient);

// `count` slots that fill `bytes` exactly, which begin at byte `at` of the input. AuthError where they do not
// fit, where a body has not the size of its type, or where slots stand together that must not; IoError for a
// type that a reader has to know and this one does not.
std::vector<Slot> parse_slots(std::span<const std::byte> bytes, std::size_t count, std::size_t at);

// The file key; none where the secret is not that of the slot, or the slot is damaged.
std::optional<Secret> unwrap(const Slot& slot, const Secret& key);
std::optional<Secret> unwrap_with_passphrase(const Slot& slot, const Secret& passphrase, const Check& check);
std::optional<Secret> unwrap_with_identity(const Slot& slot, const Identity& identity);

// AuthError where a passphrase slot asks for more of scrypt than a reader has to give (or less than a writer
// should), so that nobody's memory is filled by a header.
void check_scrypt_parameters(const Slot& slot);

// AuthError for what is wrong at a byte of the header.
[[noreturn]] void refuse_header(std::size_t at, std::string_view what);

}  // namespace gpuaes
