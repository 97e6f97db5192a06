#include "format/raw.hpp"

#include <fmt/format.h>

#include <utility>

#include "cipher/key.hpp"
#include "error.hpp"
#include "format/choose_cipher.hpp"
#include "format/ctr_session.hpp"

namespace gpuaes {
namespace {

Counter parse_iv(const std::string& digits) {
  CounterBlock block{};
  if (digits.size() != 2 * block.size())
    throw UsageError(
        fmt::format("--iv has {} digits: raw format needs the first counter block, {} hexadecimal digits",
                    digits.size(), 2 * block.size()));
  if (!parse_hex(digits, std::as_writable_bytes(std::span(block))))
    throw UsageError("--iv has a character that is no hexadecimal digit");
  return load_counter(block);
}

}  // namespace

std::unique_ptr<Session> open_raw(SessionRequest request) {
  if (request.keys.empty()) throw UsageError("raw format needs a key", "name a key file with -k");
  if (!request.iv)
    throw UsageError("raw format needs --iv, the first counter block in hexadecimal",
                     "never use one IV twice with the same key");
  Secret& key = request.keys.front();
  const Cipher cipher = choose_cipher(request.cipher, key.size());
  return make_ctr_session({cipher, std::move(key)}, parse_iv(*request.iv));
}

}  // namespace gpuaes
