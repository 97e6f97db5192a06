// The sealed format, version 1 (gpuaes-stream(5)): a header of magic, suite, slots and MAC, then a message
// encrypted with the file key that the slots hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>
#include <vector>

#include "cipher/ciphers.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "format/slots.hpp"
#include "keys/keyring.hpp"

namespace gpuaes {

// Common to all versions of the format.
inline constexpr std::string_view sealed_magic = "gpuaes-stream/";

inline constexpr std::size_t max_slots = 32;

// Magic and suite: the first bytes of the header and of the message's context.
inline constexpr std::size_t sealed_context_bytes = 17;

// Whether the two characters after the name in a magic are a version number other than 1: one digit and a
// newline, or two digits.
bool is_other_version(std::string_view text);

// A MAC under the file key. Each use has its own name, from which the key of the MAC is derived.
inline constexpr std::size_t mac_bytes = 32;
std::array<std::byte, mac_bytes> make_mac(const Secret& file_key, std::string_view use,
                                          std::span<const std::byte> message);

struct SealedSuite {
  Cipher cipher = Cipher::aes_256;  // its Suite must have numbers
  bool in_parts = false;            // the header is followed by frames instead of one message
};

// A header whose layout has been checked, but not its MAC. The slots refer to `bytes`, so it can be moved but
// not copied.
struct SealedHeader {
  SealedHeader() = default;
  SealedHeader(SealedHeader&&) = default;
  SealedHeader& operator=(SealedHeader&&) = default;

  SealedSuite suite;
  std::vector<std::byte> bytes;  // through the MAC
  std::vector<Slot> slots;
  std::exception_ptr bad_slot;  // as from parse_slots(); null if no slot was left out
};

// UsageError if these cannot be the slots of one header: a key is not 32 bytes long, there are more than
// max_slots in total, a passphrase is combined with recipients, or recipients of one KEM with those of
// another.
void check_new_slots(const Keyring& keyring);

// A header with one slot for each key in `keyring`, which must have passed check_new_slots().
std::vector<std::byte> make_sealed_header(SealedSuite suite, const Secret& file_key, const Keyring& keyring,
                                          const StopCheck& check = {});

// Takes the header from the input. AuthError if it is missing, malformed or truncated; VersionError if it
// needs a later version of the program. With `salvage`, malformed slots are left out.
SealedHeader read_sealed_header(HeaderReader& input, bool salvage = false);

// Whether the header's MAC is correct.
bool has_correct_mac(const SealedHeader& header, const Secret& file_key);

// Throws the AuthError for a message header, at byte `at` of the input, that does not match the file key and
// the label.
[[noreturn]] void refuse_message_header(std::uint64_t at);

}  // namespace gpuaes
