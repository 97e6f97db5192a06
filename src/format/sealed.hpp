// The sealed format, version 1 (FORMAT.md): key slots, then a message of Cobblestone-256, or the same with
// Kuznyechik, under the file key that they hold.
#pragma once

#include "format/format.hpp"

namespace gpuaes {

// Needs keys of 32 bytes or a passphrase, or both: any one of them opens what all of them sealed. UsageError
// where they are missing or do not fit; to decrypt, AuthError, KeyError and IoError as FORMAT.md, "What a
// reader must do", tells them apart.
std::unique_ptr<Session> open_sealed(SessionRequest request);

}  // namespace gpuaes
