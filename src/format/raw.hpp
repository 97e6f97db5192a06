// CTR mode alone, with no header: byte for byte what `openssl enc -aes-N-ctr -K KEY -iv IV` writes. With
// Kuznyechik it is that of GOST R 34.13-2015, section 5.2, whose IV is the upper half of the first counter
// block: what gost-engine's `openssl enc -engine gost -kuznyechik-ctr` writes.
#pragma once

#include "format/format.hpp"

namespace gpuaes {

// Needs a key and an IV, which is the first counter block or its upper half. UsageError where they are
// missing or do not fit.
std::unique_ptr<Session> open_raw(SessionRequest request);

}  // namespace gpuaes
