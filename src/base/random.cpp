#include "base/random.hpp"

#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.hpp"

namespace gpuaes {

// Does not use libcrypto's generators, which would only be seeded from the same source.
void fill_random(std::span<std::byte> out) {
  while (!out.empty()) {
    const std::span<std::byte> part =
        out.first(std::min<std::size_t>(out.size(), 256));  // the limit of getentropy(3)
    if (getentropy(part.data(), part.size()) != 0)
      throw IoError(fmt::format("cannot get random bytes from the system: {}", strerror(errno)));
    out = out.subspan(part.size());
  }
}

}  // namespace gpuaes
