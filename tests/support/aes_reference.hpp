// AES-CTR with the reference cipher, and counter blocks from text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/block.hpp"
#include "cipher/modes/ctr.hpp"
#include "support/bytes.hpp"

namespace gpuaes {

inline CounterBlock counter_block(std::string_view hex) {
  const Bytes bytes = from_hex(hex);
  CounterBlock block{};
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = std::to_integer<std::uint8_t>(bytes.at(i));
  return block;
}

inline CounterBlock to_bytes(const aes::Block& block) {
  CounterBlock bytes{};
  for (std::size_t i = 0; i < 16; ++i)
    bytes[i] = static_cast<std::uint8_t>(block.words[i / 4] >> 8 * (i % 4));
  return bytes;
}

// Block `number` of the keystream that begins with `counter`.
inline CounterBlock reference_keystream(const aes::RoundKeys& keys, Counter counter, std::uint64_t number) {
  CounterBlock block = store_counter(counter + number);
  aes::encrypt_block(keys, block.data(), block.data());
  return block;
}

inline Bytes reference_ctr(const aes::RoundKeys& keys, Counter counter, Bytes bytes) {
  CounterBlock key{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 16 == 0) key = reference_keystream(keys, counter, i / 16);
    bytes[i] ^= static_cast<std::byte>(key[i % 16]);
  }
  return bytes;
}

}  // namespace gpuaes
