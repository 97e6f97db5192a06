#include "cipher/ciphers.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/texts.hpp"

namespace gpuaes {

void refuse_cipher(Cipher cipher) {
  throw LaneError(fmt::format(text::no_code_for_cipher, info(cipher).name));
}

}  // namespace gpuaes
