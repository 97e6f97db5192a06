// What options take, from text. Each function throws a UsageError for text of another form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cipher/ciphers.hpp"

namespace gpuaes {

// A part of a plaintext, in bytes.
struct ByteRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // without it: up to the end
};

// The name of a cipher, as -c takes it.
Cipher parse_cipher(const std::string& name);

// The name of an output file. None for -, which is standard output.
std::optional<std::string> parse_output(const std::string& name);

// A number of bytes. K, M, G and T after it are powers of 1024.
std::uint64_t parse_expected_size(const std::string& text);

// A number of bytes from 1 to 1 GiB. K, M and G after it are powers of 1024.
std::size_t parse_size(const std::string& text);

// OFFSET:LENGTH or OFFSET:, numbers of bytes as parse_expected_size() takes them.
ByteRange parse_range(const std::string& text);

// 1 to 255 bytes of UTF-8, returned as given.
std::string parse_label(const std::string& text);

// A number of iterations.
std::uint32_t parse_iterations(const std::string& text);

}  // namespace gpuaes
