// The sealed format, version 1 (gpuaes-stream(5)): a header of magic, suite, slots and MAC, then a message
// under the file key that the slots hold.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "cipher/ciphers.hpp"
#include "format/cobblestone.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "format/slots.hpp"
#include "keys/key.hpp"

namespace gpuaes {

// Of every version of the format.
inline constexpr std::string_view sealed_magic = "gpuaes-stream/";

inline constexpr std::size_t max_slots = 32;

// Magic and suite: this many bytes of the header begin the context of the message.
inline constexpr std::size_t sealed_context_bytes = 17;

// A header whose layout was checked and whose MAC was not. Its slots lie in its bytes: it moves as a whole
// and is not copied.
struct SealedHeader {
  SealedHeader() = default;
  SealedHeader(SealedHeader&&) = default;
  SealedHeader& operator=(SealedHeader&&) = default;

  Cipher cipher = Cipher::aes_256;  // of the message, as the suite says
  std::vector<std::byte> bytes;     // through the MAC
  std::vector<Slot> slots;
};

bool has_slot(const SealedHeader& header, SlotType type);

// Whom a header is made for.
struct SlotsFor {
  std::span<const FileKey> keys;  // of 32 bytes
  std::span<const PublicKey> recipients;
  const Secret* passphrase = nullptr;  // if there is one
};

// UsageError for a key of another length than the format's 32 bytes.
void check_keys(std::span<const FileKey> keys);

// UsageError where these cannot be the slots of one header: also more than 32, and a passphrase beside
// recipients. The passphrase need not be known yet.
void check_slots_for(std::span<const FileKey> keys, std::span<const PublicKey> recipients, bool passphrase);

// A header for a message with `cipher`, whose suite has a number, and for a file key, with a slot for each of
// whom it is made for, which check_slots_for() lets pass.
std::vector<std::byte> make_sealed_header(Cipher cipher, const Secret& file_key, const SlotsFor& whom,
                                          const Check& check = {});

// What a user has to open a header with.
struct SecretsToTry {
  std::span<const FileKey> keys;
  std::span<const Identity> identities;
  const std::function<Secret()>& passphrase;  // gets it; empty where there is none
};

// Takes the header from the input. AuthError where it is malformed, cut or none at all; IoError for another
// version, suite or type of slot than this program knows.
SealedHeader read_sealed_header(HeaderReader& input);

// The file key, out of the first slot that opens. The passphrase is asked for only where no key and no
// identity opened the input and it has a slot for one. KeyError where nothing unwraps, AuthError where what
// unwraps does not fit the header, or scrypt is to take more than it gets.
Secret open_slots(const SealedHeader& header, const SecretsToTry& secrets, const Check& check = {});

// The beginning of a sealed input, through its commitment, all of it verified.
struct OpenedHeader {
  Cipher cipher;
  bool has_recipient;  // an X25519 slot: anyone may have sealed it
  Secret file_key;
  std::array<std::byte, message_header_bytes> message_header;  // salt and commitment
  std::unique_ptr<Session> session;                            // of what is behind it
};

// Opens the input's header as open_sealed() does to decrypt.
OpenedHeader open_sealed_header(const SessionRequest& request);

}  // namespace gpuaes
