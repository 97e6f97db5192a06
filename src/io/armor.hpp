// Armor, the text form of a stream (RFC 7468, section 3, the strict form): Base64 between a BEGIN and an END
// line, which contain a label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "io/source_sink.hpp"

namespace gpuaes {

// The lines without their newlines.
std::string armor_begin(std::string_view label);
std::string armor_end(std::string_view label);

// The white space allowed before and after armor, in total, in bytes.
inline constexpr std::size_t max_armor_margin = 1024;

// The size of the armor of that many bytes, as make_armor_sink() writes it.
std::uint64_t armored_size(std::string_view label, std::uint64_t size);

// Passes the armor of its input on to `text`.
std::unique_ptr<Sink> make_armor_sink(std::string_view label, std::unique_ptr<Sink> text);

// What is typed or pasted at a terminal, up to the END line of armor. All of it is read first: a question for
// a passphrase would discard the rest, and the output would appear in the middle of it. The terminal must
// outlive the source.
std::unique_ptr<Source> make_pasted_source(Source& terminal);

// The bytes that armor encodes. AuthError, after the bytes before the error, if the text is anything but one
// armored stream in exactly the form that make_armor_sink() writes, except that lines may end with CR LF, the
// last line may end without a newline, and there may be white space around the armor. `begun` is the
// beginning of the text, already read from `text`, which must outlive the source.
std::unique_ptr<Source> make_armor_source(std::string_view label, Source& text,
                                          std::span<const std::byte> begun);

}  // namespace gpuaes
