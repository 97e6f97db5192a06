// The text of stanzas, in the header of age files and between this program and age plugins (c2sp.org/age,
// "Header"): a line of arguments, then the body in Base64, in lines of 64 characters and a shorter last one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "keys/secret.hpp"

namespace gpuaes {

inline constexpr std::string_view stanza_mark = "-> ";  // what its first line begins with
inline constexpr std::size_t stanza_line_characters = 64;
inline constexpr std::size_t max_stanza_line_bytes = 64 << 10;

// The arguments in the rest of the first line; none if one is empty or has an invalid character.
std::optional<std::vector<std::string>> parse_arguments(std::string_view line);

// The text of a stanza, which may be secret: no branch or memory access depends on its body.
Secret stanza_text(std::span<const std::string_view> arguments, std::span<const std::byte> body);

}  // namespace gpuaes
