#include "format/raw.hpp"

#include <fmt/format.h>

#include <utility>

#include "cipher/key.hpp"
#include "error.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t block_bytes = sizeof(CounterBlock);

class RawSession : public Session {
 public:
  RawSession(CipherKey key, Counter first) : key_(std::move(key)), first_(first) {}

  std::size_t unit_in() const override { return block_bytes; }
  std::size_t unit_out() const override { return block_bytes; }
  std::size_t output_size(std::size_t in_size) const override { return in_size; }
  Job job(const Piece& piece) const override {
    return {.operation = Operation::ctr,
            .key = &key_,
            .counter = store_counter(first_ + piece.offset / block_bytes),
            .in = piece.in,
            .out = piece.out};
  }

 private:
  CipherKey key_;
  Counter first_;
};

Cipher cipher_for_key(std::size_t key_bytes) {
  for (const CipherInfo& each : ciphers)
    if (each.key_bytes == key_bytes) return each.cipher;
  throw UsageError(fmt::format("no cipher has a key of {} bytes", key_bytes));
}

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
  if (!request.key) throw UsageError("raw format needs a key", "name a key file with -k");
  if (!request.iv)
    throw UsageError("raw format needs --iv, the first counter block in hexadecimal",
                     "never use one IV twice with the same key");
  const Cipher cipher = request.cipher.value_or(cipher_for_key(request.key->size()));
  if (info(cipher).key_bytes != request.key->size())
    throw UsageError(fmt::format("{} needs a key of {} bytes, and this one has {}", info(cipher).name,
                                 info(cipher).key_bytes, request.key->size()));
  return std::make_unique<RawSession>(CipherKey{cipher, std::move(*request.key)}, parse_iv(*request.iv));
}

}  // namespace gpuaes
