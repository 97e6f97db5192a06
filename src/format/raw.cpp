#include "format/raw.hpp"

#include <fmt/format.h>

#include <utility>

#include "cipher/key.hpp"
#include "error.hpp"
#include "format/choose_cipher.hpp"
#include "format/ctr_session.hpp"

namespace gpuaes {
namespace {

// The first counter block: the IV, and zeros where it is shorter.
Counter parse_iv(const std::string& digits, const CipherInfo& cipher) {
  CounterBlock block{};
  if (digits.size() != 2 * cipher.iv_bytes)
    throw UsageError(fmt::format("--iv has {} digits: raw format with {} needs {} hexadecimal digits",
                                 digits.size(), cipher.name, 2 * cipher.iv_bytes));
  if (!parse_hex(digits, std::as_writable_bytes(std::span(block)).first(cipher.iv_bytes)))
    throw UsageError("--iv has a character that is no hexadecimal digit");
  return load_counter(block);
}

}  // namespace

std::unique_ptr<Session> open_raw(SessionRequest request) {
  if (request.keys.empty()) throw UsageError("raw format needs a key", "name a key file with -k");
  if (!request.iv)
    throw UsageError("raw format needs --iv, in hexadecimal what the first counter block begins with",
                     "never use one IV twice with the same key");
  Secret& key = request.keys.front();
  const Cipher cipher = choose_cipher(request.cipher, key.size());
  return make_ctr_session({cipher, std::move(key)}, parse_iv(*request.iv, info(cipher)));
}

Description describe_raw(HeaderReader&) {
  return {};
}

}  // namespace gpuaes
