// Keys and passphrases, and the files that hold them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

// More than any key file holds. Limits how much is read from a device such as /dev/zero.
inline constexpr std::size_t max_key_file_bytes = 4096;

// A key: 16, 24 or 32 raw bytes, or twice as many hexadecimal digits, optionally followed by spaces, tabs,
// carriage returns and newlines. Contents that are valid as both are read as hexadecimal.
struct RawKey {
  enum class Form { digits, bytes, text };  // raw bytes that are all text are very unlikely in a random key

  Secret key;
  Form form;

  // Whether other contents are unlikely to look like this.
  bool is_certain() const { return form == Form::digits || (form == Form::bytes && key.size() == 32); }
};

// The key in the contents of a file. None for anything else: a key is never padded or truncated.
std::optional<RawKey> find_raw_key(std::span<const std::byte> contents);

// Why there is no key in the contents, which are those of `name`.
UsageError raw_key_fault(std::span<const std::byte> contents, std::string_view name);

// Whether the contents are text whose lines are empty or begin with #. At least one does.
bool has_only_comments(std::span<const std::byte> contents);

// The longest passphrase, in bytes. Callers must read one byte more to detect a longer one.
inline constexpr std::size_t max_passphrase_bytes = 1024;

// Decodes hexadecimal digits. Returns false unless `digits` consists of exactly 2 * out.size() of them.
bool parse_hex(std::string_view digits, std::span<std::byte> out);

}  // namespace gpuaes
