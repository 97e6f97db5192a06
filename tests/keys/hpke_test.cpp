// The key schedule of HPKE, against the vector of RFC 9180, appendix A.2.1: DHKEM(X25519, HKDF-SHA256),
// HKDF-SHA256, ChaCha20-Poly1305.
#include "keys/hpke.hpp"

#include <algorithm>

#include "support/bytes.hpp"
#include "support/catch.hpp"

namespace gpuaes {
namespace {

Bytes bytes_in(const Secret& secret) {
  return {secret.bytes().begin(), secret.bytes().end()};
}

}  // namespace

TEST_CASE("the key schedule of HPKE matches RFC 9180, A.2.1") {
  const Bytes shared_bytes = from_hex("0bbe78490412b4bbea4812666f7916932b828bba79942424abb65244930d69a7");
  const Secret shared = secret_of(shared_bytes);
  const HpkeContext context = hpke_key_schedule(0x0020, shared, "Ode on a Grecian Urn");
  CHECK(bytes_in(context.key) ==
        from_hex("ad2744de8e17f4ebba575b3f5f5a8fa1f69c2a07f6e7500bc60ca6e3e3ec1c91"));
  CHECK(Bytes(context.nonce.begin(), context.nonce.end()) == from_hex("5c4d98150661b848853b547f"));
}

}  // namespace gpuaes
