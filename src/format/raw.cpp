#include "format/formats.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "format/sessions.hpp"
#include "keys/key.hpp"

namespace gpuaes {
namespace {

// The first counter block: the IV, padded with zeros.
Counter parse_iv(const std::string& digits, const CipherInfo& cipher) {
  CounterBlock block{};
  const std::size_t iv_bytes = cipher.ctr.value().iv_bytes;
  if (digits.size() != 2 * iv_bytes)
    throw UsageError(fmt::format("the IV has {}; the raw format with {} requires {} hexadecimal digits",
                                 counted(digits.size(), "digit"), cipher.name, 2 * iv_bytes));
  if (!parse_hex(digits, std::as_writable_bytes(std::span(block)).first(iv_bytes)))
    throw UsageError("the IV contains a character that is not a hexadecimal digit");
  return load_counter(block);
}

}  // namespace

std::unique_ptr<Session> open_raw(SessionRequest request) {
  const Key* const key = request.keyring.find(KeyKind::key_file);
  if (key == nullptr) throw UsageError("the raw format requires a key", Advice::name_key_file);
  if (!request.iv)
    throw UsageError("the raw format requires an IV",
                     request.decrypt
                         ? "give the IV that the input was encrypted with, in hexadecimal"
                         : "give a new IV in hexadecimal; never use an IV twice with the same key");
  const Cipher cipher = choose_cipher(request.cipher, *key);
  return make_ctr_session({cipher, key->secret.copy()}, parse_iv(*request.iv, info(cipher)));
}

Description describe_raw(HeaderReader&) {
  return {};
}

}  // namespace gpuaes
