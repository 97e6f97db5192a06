#include "base/base64.hpp"

#include "base/libcrypto.hpp"

namespace gpuaes {

std::string encode_base64(std::span<const std::byte> bytes, Padding padding) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // with a NUL
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), octets(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  if (padding == Padding::none) text.resize(text.find_last_not_of('=') + 1);
  return text;
}

std::optional<std::vector<std::byte>> decode_base64(std::string_view text, Padding padding) {
  std::string padded(text);
  if (padding == Padding::none) padded.resize((text.size() + 3) / 4 * 4, '=');
  const std::size_t count = padded.size() - (padded.find_last_not_of('=') + 1);
  if (padded.size() % 4 != 0 || count > 2) return std::nullopt;
  std::vector<std::byte> bytes(padded.size() / 4 * 3);
  if (EVP_DecodeBlock(octets(bytes.data()), reinterpret_cast<const unsigned char*>(padded.data()),
                      static_cast<int>(padded.size())) < 0)
    return std::nullopt;
  bytes.resize(bytes.size() - count);
  // EVP_DecodeBlock() alone accepts spaces and stray bits.
  if (encode_base64(bytes, padding) != text) return std::nullopt;
  return bytes;
}

}  // namespace gpuaes
