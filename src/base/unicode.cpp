#include "base/unicode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "base/error.hpp"

namespace gpuaes {
namespace {

struct Range {
  char32_t first, last;
};

// The characters of Unicode 18.0 that are not visible: categories Cc (controls), Cf (format, such as those
// that change the direction of text), Zl and Zp (line and paragraph separators), Cs (surrogates), Co (private
// use), the property Default_Ignorable_Code_Point except the variation selectors that emoji use, and the
// noncharacters from FDD0. Characters that a later version may assign are visible.
constexpr Range invisible[] = {
    {0x0000, 0x001f},   {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},    {0x0600, 0x0605},
    {0x061c, 0x061c},   {0x06dd, 0x06dd},   {0x070f, 0x070f},   {0x0890, 0x0891},    {0x08e2, 0x08e2},
    {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},    {0x2028, 0x202e},
    {0x2060, 0x206f},   {0x3164, 0x3164},   {0xd800, 0xf8ff},   {0xfdd0, 0xfdef},    {0xfeff, 0xfeff},
    {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},  {0x13430, 0x1343f},
    {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}, {0xf0000, 0x10ffff},
};

bool is_noncharacter_at_end_of_plane(char32_t code) {
  return (code & 0xfffe) == 0xfffe;
}

// `bytes` are UTF-8.
char32_t decode(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  if (bytes.size() == 1) return first;
  char32_t code = first & (0x7fU >> bytes.size());
  for (const char c : bytes.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

}  // namespace

bool is_utf8(std::string_view text) {
  Utf8Check check;
  return std::ranges::all_of(text, [&check](char c) { return check.take(static_cast<unsigned char>(c)); }) &&
         check.is_complete();
}

bool TerminalTextCheck::take(char c) {
  const auto byte = static_cast<unsigned char>(c);
  const bool is_c1_control = before_ == 0xc2 && byte < 0xa0;  // U+0080 to U+009F
  const bool is_layout = std::string_view("\b\t\n\f\r").find(c) != std::string_view::npos;
  before_ = byte;
  return utf8_.take(byte) && !is_c1_control && (is_layout || (byte >= 0x20 && byte != 0x7f));
}

std::string_view marked_encoding(std::string_view text) {
  for (const ByteOrderMark& mark : byte_order_marks)
    if (text.starts_with(mark.bytes)) return mark.encoding;
  return {};
}

void refuse_byte_order_mark(std::string_view text, std::string_view name) {
  if (const std::string_view encoding = marked_encoding(text); !encoding.empty())
    throw UsageError(fmt::format("{} begins with a {} byte order mark", name, encoding),
                     "save it as UTF-8 without a byte order mark");
}

Character take_character(std::string_view& text) {
  Utf8Check check;
  std::size_t size = 0;
  bool valid = true;
  do valid = check.take(static_cast<unsigned char>(text[size]));
  while (valid && ++size < text.size() && !check.is_complete());
  const std::string_view bytes = text.substr(0, std::max<std::size_t>(size, 1));
  text.remove_prefix(bytes.size());
  return {bytes, valid && check.is_complete() ? std::optional(decode(bytes)) : std::nullopt};
}

bool is_visible(char32_t code) {
  const Range* const range = std::ranges::lower_bound(invisible, code, {}, &Range::last);
  const bool is_listed = range != std::end(invisible) && code >= range->first;
  return !is_listed && !is_noncharacter_at_end_of_plane(code);
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character character = take_character(text);
    if (character.code && is_visible(*character.code))
      shown += character.bytes;
    else
      shown += '?';
  }
  return shown;
}

}  // namespace gpuaes
