// Keys and passphrases, and the files that hold them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "keys/secret.hpp"

namespace gpuaes {

// More than any key file holds. Limits how much is read from a device such as /dev/zero.
inline constexpr std::size_t max_key_file_bytes = 4096;

// Parses the contents of a key file: 16, 24 or 32 raw bytes, or twice as many hexadecimal digits, optionally
// followed by spaces, tabs, carriage returns and newlines. Contents that are valid as both are read as
// hexadecimal. UsageError naming `name` for anything else: a key is never padded or truncated.
Secret parse_key(std::span<const std::byte> contents, std::string_view name);

// Whether all bytes are printable ASCII or white space, which is very unlikely in a random key.
bool is_text(std::span<const std::byte> contents);

// Whether the contents are text whose lines are empty or begin with #. At least one does.
bool has_only_comments(std::span<const std::byte> contents);

// Whether these could be the contents of a key file, and are not other text.
bool looks_like_key(std::span<const std::byte> contents);

// Windows programs write one at the beginning of a text file. Not a part of it, but of the contents of a
// file.
struct ByteOrderMark {
  std::string_view encoding, bytes;
};
inline constexpr std::array byte_order_marks{ByteOrderMark{"UTF-8", "\xef\xbb\xbf"},
                                             ByteOrderMark{"UTF-16", "\xff\xfe"},
                                             ByteOrderMark{"UTF-16", "\xfe\xff"}};

// UsageError naming `name` if the text begins with a byte order mark.
void refuse_byte_order_mark(std::string_view text, std::string_view name);

// The longest passphrase, in bytes. Callers must read one byte more to detect a longer one.
inline constexpr std::size_t max_passphrase_bytes = 1024;

// Parses the contents of a passphrase file: the bytes before the first newline, unchanged (gpuaes-stream(5),
// "Slots"). UsageError naming `name` if there are none or more than max_passphrase_bytes.
Secret parse_passphrase(std::span<const std::byte> contents, std::string_view name);

// Decodes hexadecimal digits. Returns false unless `digits` consists of exactly 2 * out.size() of them.
bool parse_hex(std::string_view digits, std::span<std::byte> out);

}  // namespace gpuaes
