// Wycheproof's vectors for ChaCha20-Poly1305.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/bytes.hpp"
#include "support/catch.hpp"

namespace gpuaes {

// One line of the vectors.
struct ChaCha20Vector {
  std::string number, result;
  Bytes key, nonce, aad, plain, sealed;
};

inline ChaCha20Vector parse_chacha20_vector(std::string_view line) {
  const std::vector<std::string> words = words_of(line);
  REQUIRE(words.size() == 8);
  return {.number = words[0],
          .result = words[1],
          .key = from_hex(words[2]),
          .nonce = from_hex(words[3]),
          .aad = from_hex(words[4]),
          .plain = from_hex(words[5]),
          .sealed = from_hex(words[6] + words[7])};
}

inline constexpr std::string_view wycheproof_chacha20[] = {
#include "vectors/wycheproof_chacha20_poly1305.inc"
};

}  // namespace gpuaes
