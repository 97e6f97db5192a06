// The C2SP chunked-encryption message, Cobblestone-256 and -128 (gpuaes-stream(5), "Message" and "The bare
// form"): salt, commitment, segments. By itself it is a format; behind a header it is the body of the sealed
// format, which has the same also with Kuznyechik (gpuaes-stream(5), "Suite 02").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cipher/ciphers.hpp"
#include "format/format.hpp"

namespace gpuaes {

inline constexpr std::size_t salt_bytes = 24;
inline constexpr std::size_t commitment_bytes = 32;
inline constexpr std::size_t message_header_bytes = salt_bytes + commitment_bytes;

// What a message is derived from: a uniformly random key as long as the cipher's, which is aes-256, aes-128
// or, behind a header alone, kuznyechik; and bytes that reader and writer have to agree on.
struct MessageSecret {
  Cipher cipher;
  std::span<const std::byte> input_key;
  std::span<const std::byte> context;
};

// A message with a fresh salt, behind the bytes of `header`.
std::unique_ptr<Session> seal_message(const MessageSecret& secret, std::vector<std::byte> header);

// The message that begins with these salt and commitment, behind `header_bytes` of the input, theirs counted.
// None where the commitment is not that of the secret.
std::unique_ptr<Session> open_message(const MessageSecret& secret,
                                      std::span<const std::byte, message_header_bytes> message_header,
                                      std::uint64_t header_bytes);

}  // namespace gpuaes
