// Wycheproof's vectors for ChaCha20-Poly1305.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

#include "support/bytes.hpp"
#include "support/catch.hpp"

namespace gpuaes {

// One line of the vectors.
struct ChaCha20Vector {
  std::string number, result;
  Bytes key, nonce, aad, plain, sealed;
};

inline ChaCha20Vector parse_chacha20_vector(std::string_view line) {
  std::istringstream words{std::string(line)};
  ChaCha20Vector vector;
  words >> vector.number >> vector.result;
  const auto next = [&] {
    std::string digits;
    REQUIRE(words >> digits);
    return digits == "-" ? Bytes() : from_hex(digits);
  };
  for (Bytes* field : {&vector.key, &vector.nonce, &vector.aad, &vector.plain, &vector.sealed})
    *field = next();
  const Bytes tag = next();
  vector.sealed.insert(vector.sealed.end(), tag.begin(), tag.end());
  return vector;
}

inline constexpr std::string_view wycheproof_chacha20[] = {
#include "vectors/wycheproof_chacha20_poly1305.inc"
};

}  // namespace gpuaes
