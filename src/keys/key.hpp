// Key files and passphrases: what a user keeps a key in, or makes one of.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "keys/secret.hpp"

namespace gpuaes {

// More than any key file holds, so that /dev/zero given for a key ends soon.
inline constexpr std::size_t max_key_file_bytes = 4096;

// A key that a user gave, and the name that messages have for it: that of its file.
struct FileKey : Secret {
  using Secret::Secret;
  FileKey(Secret key) : Secret(std::move(key)) {}
  FileKey(Secret key, std::string file) : Secret(std::move(key)), name(std::move(file)) {}

  std::string name = "this one";
};

// The key in the contents of a key file: 16, 24 or 32 bytes, given raw or as twice as many hexadecimal
// digits, behind which blanks, tabs, carriage returns and line feeds are ignored. What can be read as
// hexadecimal is. Any other length is a UsageError that names `name`: a key is never padded and never cut.
Secret parse_key(std::span<const std::byte> contents, std::string_view name);

// The longest passphrase; who reads one has to read a byte more, to see that it ends there.
inline constexpr std::size_t max_passphrase_bytes = 1024;

// The passphrase in the contents of a file: its bytes before the first line feed, 1 to 1024 of them, as they
// are (gpuaes-stream(5), "Slots"). Any other length is a UsageError that names `name`.
Secret parse_passphrase(std::span<const std::byte> contents, std::string_view name);

// `digits` must be exactly twice out.size() hexadecimal digits; false otherwise.
bool parse_hex(std::string_view digits, std::span<std::byte> out);

}  // namespace gpuaes
