// What to do about errors of libcrypto.
#include "base/libcrypto.hpp"

#include <openssl/err.h>

#include <string>

#include "support/catch.hpp"

namespace gpuaes {

TEST_CASE("the hint of an error of libcrypto fits its reason") {
  const auto hint = [](int reason) { return hint_for_libcrypto(ERR_PACK(ERR_LIB_EVP, 0, reason)); };
  CHECK(hint_for_libcrypto(0).advice == Advice::raise_memory_limit);
  CHECK(hint(ERR_R_MALLOC_FAILURE).advice == Advice::raise_memory_limit);
  CHECK(hint(ERR_R_UNSUPPORTED).text.find("openssl.cnf") != std::string::npos);
  CHECK(hint(ERR_R_INTERNAL_ERROR).empty());
}

}  // namespace gpuaes
