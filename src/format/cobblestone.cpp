#include "format/cobblestone.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "format/header_reader.hpp"
#include "keys/kdf.hpp"
#include "keys/key.hpp"

namespace gpuaes {
namespace {

// libcrypto limits the length of HKDF's `info`.
constexpr std::size_t max_context_bytes = 1024;

struct MessageKeys {
  SegmentStream stream;
  std::array<std::byte, commitment_bytes> commitment;
};

// gpuaes-stream(5), "Message": key || base nonce || commitment.
MessageKeys derive(const MessageSecret& secret, std::span<const std::byte> salt) {
  const std::string_view label = info(secret.cipher).suite.value().label;
  const std::size_t key_bytes = info(secret.cipher).key_bytes,
                    nonce_bytes = info(secret.cipher).aead.nonce_bytes;
  const std::vector<std::byte> hkdf_info = concatenate(bytes_of(label), salt, secret.context);
  Secret derived =
      hkdf_expand_sha512(secret.input_key, hkdf_info, key_bytes + nonce_bytes + commitment_bytes);
  MessageKeys keys{{.key = {secret.cipher, {}}, .base_nonce = {{}, nonce_bytes}}, {}};
  SegmentStream& stream = keys.stream;
  std::ranges::copy(derived.bytes().subspan(key_bytes, nonce_bytes),
                    std::as_writable_bytes(std::span(stream.base_nonce.bytes)).begin());
  std::ranges::copy(derived.bytes().subspan(key_bytes + nonce_bytes), keys.commitment.begin());
  derived.shrink(key_bytes);
  stream.key.bytes = std::move(derived);
  return keys;
}

std::vector<std::byte> parse_context(const std::string& digits) {
  if (digits.size() % 2 != 0 || digits.size() / 2 > max_context_bytes)
    throw UsageError(fmt::format("the context has {}; it must have an even number of digits, at most {}",
                                 counted(digits.size(), "digit"), 2 * max_context_bytes));
  std::vector<std::byte> context(digits.size() / 2);
  if (!parse_hex(digits, context))
    throw UsageError("the context contains a character that is not a hexadecimal digit");
  return context;
}

std::unique_ptr<Session> open_bare(const MessageSecret& secret, HeaderReader& input) {
  std::array<std::byte, message_header_bytes> header;
  input.take(header);
  std::unique_ptr<Session> session = open_message(secret, header, {.input_bytes = input.taken()});
  if (!session) throw KeyError("this key and context do not open the input", Advice::check_key_and_context);
  return session;
}

}  // namespace

std::unique_ptr<Session> seal_message(const MessageSecret& secret, std::vector<std::byte> header) {
  std::array<std::byte, salt_bytes> salt;
  fill_random(salt);
  MessageKeys keys = derive(secret, salt);
  append(header, salt);
  append(header, keys.commitment);
  keys.stream.header = std::move(header);
  return make_segment_session(std::move(keys.stream));
}

std::unique_ptr<Session> open_message(const MessageSecret& secret,
                                      std::span<const std::byte, message_header_bytes> message_header,
                                      const MessagePlace& place) {
  MessageKeys keys = derive(secret, message_header.first<salt_bytes>());
  if (!is_equal(keys.commitment, message_header.last<commitment_bytes>())) return nullptr;
  keys.stream.decrypt = true;
  keys.stream.place = place;
  append(keys.stream.commitment, keys.commitment);
  return make_segment_session(std::move(keys.stream));
}

namespace {

bool is_cobblestone_cipher(Cipher cipher) {
  return cipher == Cipher::aes_128 || cipher == Cipher::aes_256;
}

std::unique_ptr<Session> open_cobblestone(SessionRequest request) {
  const Key* const key = request.keyring.find(KeyKind::key_file);
  if (key == nullptr) throw UsageError("the cobblestone format requires a key", Advice::name_key_file);
  if (key->secret.size() == info(Cipher::aes_192).key_bytes)
    throw UsageError(
        fmt::format("the cobblestone format requires a key of 16 or 32 bytes; the key in {} is {} bytes long",
                    key->name, key->secret.size()));
  const std::vector<std::byte> context = parse_context(request.context.value_or(""));
  const MessageSecret secret{choose_cipher(request.cipher, *key), key->secret.bytes(), context};
  return request.decrypt ? open_bare(secret, *request.input) : seal_message(secret, {});
}

Description describe_cobblestone(HeaderReader& input) {
  std::array<std::byte, message_header_bytes> header;
  input.take(header);
  return {.cipher_rule = "aes-128 or aes-256, depending on the length of the key",
          .segments = SegmentRules{}};
}

}  // namespace

// A bare message. Requires a key of 16 or 32 bytes.
constinit const Format cobblestone_format{
    .name = "cobblestone",
    .authenticated = true,
    .accepts = {.context = true, .range = true},
    .supports = is_cobblestone_cipher,
    .open = open_cobblestone,
    .describe = describe_cobblestone,
};

}  // namespace gpuaes
