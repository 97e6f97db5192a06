#include "fuzz/fuzz.hpp"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gpuaes::fuzz(std::as_bytes(std::span(data, size)));
  return 0;
}
