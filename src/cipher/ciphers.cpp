#include "cipher/ciphers.hpp"

#include <fmt/format.h>

#include <atomic>

#include "base/error.hpp"

namespace gpuaes {

std::uint64_t new_key_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

void refuse_cipher(Cipher cipher) {
  throw LaneError(fmt::format("this worker does not support {}", info(cipher).name));
}

}  // namespace gpuaes
