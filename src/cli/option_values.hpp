// Parsers for the values of options. Each throws UsageError if the text is malformed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cipher/ciphers.hpp"

namespace gpuaes {

// A part of a plaintext, in bytes.
struct ByteRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // to the end if not set
};

// A part, and into how many its input is cut; 0 if all of the input is the part.
struct PartName {
  std::uint32_t number = 0;
  std::uint32_t of = 0;
};

std::vector<std::string_view> cipher_names();

// The name of a cipher, in the form that -c takes.
Cipher parse_cipher(const std::string& name);

// The name of an output file; nullopt for -, which is standard output.
std::optional<std::string> parse_output(const std::string& name);

// A number of bytes, optionally followed by K, M, G or T (powers of 1024).
std::uint64_t parse_expected_size(const std::string& text);

// A number of bytes from 1 to 1 GiB, optionally followed by K, M or G (powers of 1024).
std::size_t parse_size(const std::string& text);

// OFFSET:LENGTH or OFFSET:, each number as in parse_expected_size().
ByteRange parse_range(const std::string& text);

// 1 to 255 bytes of UTF-8, returned unchanged.
std::string parse_label(const std::string& text);

// I or I/N, with I less than N, and N at most max_parts.
PartName parse_part(const std::string& text);

// A number of parts, from 1 to max_parts.
std::uint32_t parse_part_count(const std::string& text);

// A number of iterations.
std::uint32_t parse_iterations(const std::string& text);

}  // namespace gpuaes
