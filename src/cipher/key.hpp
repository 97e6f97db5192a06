// Key files: what a user keeps a key in.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "cipher/secret.hpp"

namespace gpuaes {

// More than any key file holds, so that /dev/zero given for a key ends soon.
inline constexpr std::size_t max_key_file_bytes = 4096;

// The key in the contents of a key file: 16, 24 or 32 bytes, given raw or as twice as many hexadecimal
// digits, behind which blanks, tabs, carriage returns and line feeds are ignored. What can be read as
// hexadecimal is. Any other length is a UsageError that names `name`: a key is never padded and never cut.
Secret parse_key(std::span<const std::byte> contents, std::string_view name);

// `digits` must be exactly twice out.size() hexadecimal digits; false otherwise.
bool parse_hex(std::string_view digits, std::span<std::byte> out);

}  // namespace gpuaes
