#include "cli/version.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

namespace gpuaes {

std::string_view version() {
  return GPUAES_VERSION;
}

// The build defines GPUAES_VERSION, GPUAES_COMMIT and GPUAES_CUDA_ARCHITECTURES. The last two may be empty.
std::string version_text(std::string_view program) {
  constexpr std::string_view commit = GPUAES_COMMIT, architectures = GPUAES_CUDA_ARCHITECTURES;
  std::string text = fmt::format("{} {}", program, version());
  if (!commit.empty()) text += fmt::format(" ({})", commit);
  text += fmt::format("\nlibcrypto {}\n", OpenSSL_version(OPENSSL_VERSION_STRING));
  text +=
      architectures.empty() ? "built without CUDA\n" : fmt::format("CUDA architectures {}\n", architectures);
  return text;
}

}  // namespace gpuaes
