// CTR mode as a session: what the formats have in common that authenticate nothing. Their output is as long
// as their input, and to decrypt is to encrypt once more.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cipher/ciphers.hpp"
#include "cipher/modes/ctr.hpp"
#include "format/format.hpp"

namespace gpuaes {

// `first` is the counter of the body's first 16 bytes, `header` what is to be written before the body.
std::unique_ptr<Session> make_ctr_session(CipherKey key, Counter first, std::vector<std::byte> header = {});

}  // namespace gpuaes
