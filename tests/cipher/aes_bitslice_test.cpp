// The circuits of the bitsliced kernel, which tests/cuda/host_kernels_test.cpp runs as a whole.
#include <algorithm>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/bitslice_ctr.hpp"
#include "support/catch.hpp"

namespace gpuaes {

TEST_CASE("the S-box circuit matches the table in every slice") {
  for (unsigned slice = 0; slice < 32; ++slice) {
    for (unsigned value = 0; value < 256; ++value) {
      std::uint32_t x[8], result = 0;
      for (unsigned i = 0; i < 8; ++i) x[i] = (value >> i & 1) << slice;
      aes::substitute(x);
      for (unsigned i = 0; i < 8; ++i) result |= (x[i] >> slice & 1) << i;
      REQUIRE(result == aes::sbox[value]);
    }
  }
}

TEST_CASE("transposing swaps words and bits, and transposing again restores them") {
  aes::Column column{};
  for (unsigned i = 0; i < 32; ++i) column.words[i] = 0x9e3779b9u * (i + 1);
  const aes::Column before = column;
  aes::transpose(column);
  for (unsigned i = 0; i < 32; ++i)
    for (unsigned k = 0; k < 32; ++k) REQUIRE((column.words[k] >> i & 1) == (before.words[i] >> k & 1));
  aes::transpose(column);
  CHECK(std::equal(column.words, column.words + 32, before.words));
}

}  // namespace gpuaes
