// The values of options: their parsers, which throw UsageError if the text is malformed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cipher/ciphers.hpp"
#include "cli/requests.hpp"
#include "lane/backends.hpp"

namespace gpuaes {

std::vector<std::string_view> cipher_names();

// The name of a cipher, in the form that -c takes.
Cipher parse_cipher(const std::string& name);

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
std::vector<std::string_view> lane_names();  // the words in it

// A number of iterations.
std::uint32_t parse_iterations(const std::string& text);

}  // namespace gpuaes
