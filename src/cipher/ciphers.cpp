#include "cipher/ciphers.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace gpuaes {

void refuse_cipher(Cipher cipher) {
  throw LaneError(fmt::format("this lane does not support {}", info(cipher).name));
}

}  // namespace gpuaes
