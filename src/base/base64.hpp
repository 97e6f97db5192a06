// Base64 (RFC 4648, section 4), only in its canonical form: what encoding the bytes gives.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuaes {

enum class Padding { none, required };

std::string encode_base64(std::span<const std::byte> bytes, Padding padding);

// The bytes that the text encodes; none if it is not canonical. For public data: the time depends on it.
std::optional<std::vector<std::byte>> decode_base64(std::string_view text, Padding padding);

}  // namespace gpuaes
