// The values of options: their parsers, which throw UsageError if the text is malformed, and the names of
// outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cipher/ciphers.hpp"
#include "files/named_file.hpp"
#include "format/parts/frames.hpp"
#include "lane/backends.hpp"

namespace gpuaes {

// A part of a plaintext, in bytes.
struct ByteRange {
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;  // to the end if not set
};

// Of a file in parts, from 0.
struct PartNumber {
  std::uint32_t number;
};

// What --range, --share or --part selects of a plaintext.
using Selection = std::variant<ByteRange, Share, PartNumber>;

std::vector<std::string_view> cipher_names();

// The name of a cipher, in the form that -c takes.
Cipher parse_cipher(const std::string& name);

// The name of an output file; nullopt for -, which is standard output.
std::optional<std::string> parse_output(const std::string& name);

// A number of bytes from 1 to 1 GiB, optionally followed by K, M, G or T (powers of 1024), or by KiB and so
// on.
std::size_t parse_size(const std::string& text);

// OFFSET:LENGTH or OFFSET:, each a number of bytes in the same form.
ByteRange parse_range(const std::string& text);

// I/N, with 0 <= I < N <= max_parts.
Share parse_share(const std::string& text);

// The number of a part, less than max_parts.
std::uint32_t parse_part_number(const std::string& text);

// 1 to 255 bytes of UTF-8, returned unchanged.
std::string parse_label(const std::string& text);

// The name of an age plugin, which is not a number: make -j 4 starts 4 jobs.
std::string parse_plugin(const std::string& name);

// A number of parts, from 1 to max_parts.
std::uint32_t parse_part_count(const std::string& text);

// The lanes of -l: "auto", "auto:low-cpu", or items joined by +.
LaneChoice parse_lanes(std::string_view text);
std::string to_string(const std::vector<LaneSpec>& specs);  // in that form
std::vector<std::string_view> lane_names();                 // the words in it

// A number of iterations.
std::uint32_t parse_iterations(const std::string& text);

}  // namespace gpuaes
