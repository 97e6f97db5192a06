// CTR mode alone, with no header: byte for byte what `openssl enc -aes-N-ctr -K KEY -iv IV` writes.
#pragma once

#include "format/format.hpp"

namespace gpuaes {

// Needs a key and an IV, which is the first counter block. UsageError where they are missing or do not fit.
std::unique_ptr<Session> open_raw(SessionRequest request);

}  // namespace gpuaes
