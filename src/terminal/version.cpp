#include "terminal/version.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

namespace gpuaes {

std::string_view version() {
  return GPUAES_VERSION;
}

// The build defines these names. The commit and the CUDA architectures may be empty.
std::string version_text(std::string_view program) {
  constexpr std::string_view commit = GPUAES_COMMIT, architectures = GPUAES_CUDA_ARCHITECTURES;
  std::string text = fmt::format("{} {}", program, version());
  if (!commit.empty()) text += fmt::format(" ({})", commit);
  text += fmt::format("\nCPU architecture {}\nlibcrypto {}\n", GPUAES_CPU_ARCHITECTURE,
                      OpenSSL_version(OPENSSL_VERSION_STRING));
  text +=
      architectures.empty() ? "built without CUDA\n" : fmt::format("CUDA architectures {}\n", architectures);
  return text;
}

}  // namespace gpuaes
