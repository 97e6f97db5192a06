// UTF-8, and the characters that may be shown.
#include "base/unicode.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "support/catch.hpp"

namespace gpuaes {

using namespace std::literals;

namespace {

bool is_text(std::string_view text) {
  TerminalTextCheck check;
  return std::ranges::all_of(text, [&check](char c) { return check.take(c); });
}

}  // namespace

TEST_CASE("UTF-8 is checked exactly as defined by RFC 3629") {
  // 128 characters of 1 byte, 1920 of 2, 61440 of 3 (without surrogates), 2^20 of 4
  const auto count = [](std::string text, std::size_t changing) {
    std::size_t valid = 0;
    for (unsigned i = 0; i < 1U << (8 * changing); ++i) {
      for (std::size_t at = 0; at < changing; ++at) text[at] = static_cast<char>(i >> (8 * at));
      valid += is_utf8(text);
    }
    return valid;
  };
  CHECK(count("?", 1) == 128);
  CHECK(count("??", 2) == 128 * 128 + 1920);
  CHECK(count("???", 3) == 128 * 128 * 128 + 2 * 128 * 1920 + 61440);
  // The last two bytes end a character of 3 bytes, after one of 1 byte, or a character of 4 bytes.
  CHECK(count("??\x80\xbf", 2) == 128 * 15 + (1 << 20) / (64 * 64));
}

TEST_CASE("the UTF-8 check allows control characters but not incomplete characters") {
  CHECK(is_utf8(""));
  CHECK(is_utf8("\0\x01\x1b\x7f\xc2\x80\xc2\x9f"sv));
  for (const std::string_view bad : {"\xc3", "a\xe2\x82", "\xf0\x9f\x98", "\xf0"}) CHECK_FALSE(is_utf8(bad));
}

TEST_CASE("characters that control a terminal or cannot be seen are replaced, and escaped in JSON") {
  const std::vector<std::pair<std::string_view, std::string_view>> characters{
      {"\0"sv, "\\u0000"},
      {"\x1b", "\\u001b"},
      {"\xc2\x80", "\\u0080"},
      {"\u00ad", "\\u00ad"},
      {"\u2028", "\\u2028"},
      {"\u202e", "\\u202e"},
      {"\ue000", "\\ue000"},
      {"\ufeff", "\\ufeff"},
      {"\uffff", "\\uffff"},
      {"\U000e0041", "\\udb40\\udc41"},
      {"\U0010ffff", "\\udbff\\udfff"},
  };
  for (const auto& [character, escaped] : characters) {
    CAPTURE(escaped);
    CHECK(printable(fmt::format("a{}b", character)) == "a?b");
    CHECK(json_string(fmt::format("a{}b", character)) == fmt::format("\"a{}b\"", escaped));
  }
}

TEST_CASE("a question mark replaces each sequence that is not UTF-8") {
  CHECK(printable("a\x80\x9f\xff"
                  "b") == "a???b");
  CHECK(printable("caf\xe9 au lait") == "caf? au lait");
  CHECK(printable("\xc0\xaf") == "??");  // too long
  CHECK(printable("\xe0\x80\x9b") == "???");
  CHECK(printable("\xed\xa0\x80") == "???");           // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "????");      // above U+10FFFF
  CHECK(printable("\xe2\x82z\xf0\x9f\x98") == "?z?");  // incomplete
  CHECK(printable("\xc3\x1b\xc3\xc3\xa9") == "???\u00e9");
}

TEST_CASE("JSON strings keep valid characters next to invalid ones") {
  CHECK(json_string("\u00e9\"\\\xff\xe2\x82") == "\"\u00e9\\u0022\\u005c\\ufffd\\ufffd\"");
}

TEST_CASE("a file name that is not UTF-8 is also in JSON as Base64") {
  CHECK(json_file("\u00e9\n") == "\"file\": \"\u00e9\\u000a\"");
  CHECK(json_file("a\xff") == "\"file\": \"a\\ufffd\", \"file_base64\": \"Yf8=\"");
}

TEST_CASE("lines of UTF-8 may be written to a terminal") {
  CHECK(is_text(""));
  CHECK(is_text("two\tcolumns\r\nnext page\f_\b~"));
  CHECK(is_text("\u00a0\u00df\u07ff\u0800\u20ac\ud7ff\ue000\uffff\U00010000\U0010ffff"));
}

TEST_CASE("control characters may not be written to a terminal") {
  for (unsigned c = 0; c < 256; ++c) {
    const bool shown =
        (c >= ' ' && c < 0x7f) || "\b\t\n\f\r"sv.find(static_cast<char>(c)) != std::string::npos;
    CAPTURE(c);
    const std::string one{'a', static_cast<char>(c), 'b'}, latin{'\xc2', static_cast<char>(c)};
    if (c < 0x80) CHECK(is_text(one) == shown);
    // U+0080 to U+00BF; the first 32 are control characters
    if (c >= 0x80 && c < 0xc0) CHECK(is_text(latin) == (c >= 0xa0));
  }
  CHECK_FALSE(is_text("\x1b[31mred"));
  CHECK_FALSE(is_text("\xc2\x9b\x33\x31m"));  // the same, with the control character CSI
}

TEST_CASE("invalid UTF-8 may not be written to a terminal") {
  for (const std::string_view bad :
       {"\x80", "\xbf", "\xc0\xaf", "\xc1\x81", "\xc3(", "\xe0\x9f\xbf", "\xe2\x82(", "\xed\xa0\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "caf\xe9 au lait"})
    CHECK_FALSE(is_text(bad));
}

TEST_CASE("the last character for a terminal may be incomplete") {
  CHECK(is_text("\xe2\x82"));
}

}  // namespace gpuaes
