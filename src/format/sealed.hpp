// The sealed format, version 1 (FORMAT.md): key slots, then a message of Cobblestone-256, or the same with
// Kuznyechik, under the file key that they hold.
#pragma once

#include <array>
#include <memory>

#include "format/cobblestone.hpp"
#include "format/format.hpp"
#include "format/sealed_header.hpp"

namespace gpuaes {

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

// Needs keys of 32 bytes, recipients (to decrypt: identities) or a passphrase, or several of them; but none
// beside recipients. Any one opens what all of them sealed. UsageError where they are missing or do not fit;
// to decrypt, AuthError, KeyError and IoError as FORMAT.md, "What a reader must do", tells them apart.
std::unique_ptr<Session> open_sealed(SessionRequest request);

}  // namespace gpuaes
