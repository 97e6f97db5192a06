// The C2SP chunked-encryption message, Cobblestone-256 and -128 (gpuaes-stream(5), "Message" and "The
// cobblestone format"): salt, commitment, segments. It is a format of its own and the body of the sealed
// format, which also uses it with Kuznyechik (gpuaes-stream(5), "Suite 02").
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "cipher/ciphers.hpp"
#include "format/format.hpp"
#include "format/sessions.hpp"

namespace gpuaes {

inline constexpr std::size_t salt_bytes = 24;
inline constexpr std::size_t commitment_bytes = 32;
inline constexpr std::size_t message_header_bytes = salt_bytes + commitment_bytes;

// The inputs to a message's key derivation. The cipher is aes-128, aes-256 or, in the sealed format only,
// kuznyechik. `input_key` is uniformly random and as long as the cipher's key. Readers must know `context`.
struct MessageSecret {
  Cipher cipher;
  std::span<const std::byte> input_key;
  std::span<const std::byte> context;
};

// A message with a fresh salt. `header` is written before it.
std::unique_ptr<Session> seal_message(const MessageSecret& secret, std::vector<std::byte> header);

// The message with this salt and commitment. Null if the commitment does not match the secret.
std::unique_ptr<Session> open_message(const MessageSecret& secret,
                                      std::span<const std::byte, message_header_bytes> message_header,
                                      const MessagePlace& place);

}  // namespace gpuaes
