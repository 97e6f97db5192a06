// The header of age files (c2sp.org/age, "Header"): a version line, stanzas that hold the wrapped file key,
// and a MAC. Plugins exchange stanzas in the same form.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/header_reader.hpp"
#include "keys/plugin.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

inline constexpr std::string_view age_magic = "age-encryption.org/";  // common to all versions

inline constexpr std::size_t age_file_key_bytes = 16;
inline constexpr std::size_t max_age_header_bytes = 16 << 20;
inline constexpr std::size_t max_stanzas = 1024;  // as in age 1.3
inline constexpr std::size_t max_stanza_arguments = 64;

// The text of a stanza: a line of arguments, then the body in Base64, in lines of 64 characters and a shorter
// last one.
inline constexpr std::string_view stanza_mark = "-> ";  // what its first line begins with
inline constexpr std::size_t stanza_line_characters = 64;
inline constexpr std::size_t max_stanza_line_bytes = 64 << 10;

// The arguments in the rest of the first line; none if one is empty or has an invalid character.
std::optional<std::vector<std::string>> parse_arguments(std::string_view line);

// The text of a stanza, which may be secret: no branch or memory access depends on its body.
Secret stanza_text(std::span<const std::string_view> arguments, std::span<const std::byte> body);

// A header whose form has been checked, but not its MAC.
struct AgeHeader {
  std::vector<Stanza> stanzas;
  std::vector<std::byte> bytes;  // through the MAC's line
  std::size_t mac_at = 0;        // offset of the MAC's line; its "---" is authenticated
  std::vector<std::byte> mac;
};

// Takes the header from the input, and no byte after it. AuthError if it is not exactly as the specification
// requires, truncated, or too long; VersionError for another version.
AgeHeader read_age_header(HeaderReader& input);

// Whether the header's MAC is correct. Compares in constant time.
bool has_correct_mac(const AgeHeader& header, const Secret& file_key);

// A stanza as it is in a header.
std::string text_of(const Stanza& stanza);

// A header with these stanzas, which may be too long to be read again.
std::vector<std::byte> make_age_header(const std::vector<Stanza>& stanzas, const Secret& file_key);

}  // namespace gpuaes
