// Text that may be written to a terminal.
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "io/text_sink.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/io_support.hpp"

namespace gpuaes {
namespace {

using namespace std::literals;

// Appends its input to a string that outlives it.
class StringSink : public Sink {
 public:
  explicit StringSink(std::string& to) : to_(to) {}
  void write(std::span<const std::byte> bytes) override {
    to_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void finish() override { to_ += "(end)"; }

 private:
  std::string& to_;
};

// Checks `text` as one piece, and split in two at every position.
bool is_text(std::string_view text) {
  const auto passes = [](std::initializer_list<std::string_view> pieces) {
    std::string shown;
    TextSink sink(std::make_unique<StringSink>(shown));
    return failure_of([&] {
             for (const std::string_view piece : pieces) sink.write(bytes_of(piece));
           })
        .empty();
  };
  const bool whole = passes({text});
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    CHECK(passes({text.substr(0, cut), text.substr(cut)}) == whole);
  return whole;
}

}  // namespace

TEST_CASE("lines of UTF-8 are text") {
  CHECK(is_text(""));
  CHECK(is_text("two\tcolumns\r\nnext page\f_\b~"));
  CHECK(is_text("\u00a0\u00df\u07ff\u0800\u20ac\ud7ff\ue000\uffff\U00010000\U0010ffff"));
}

TEST_CASE("control characters are not text") {
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

TEST_CASE("invalid UTF-8 is not text") {
  for (const std::string_view bad :
       {"\x80", "\xbf", "\xc0\xaf", "\xc1\x81", "\xc3(", "\xe0\x9f\xbf", "\xe2\x82(", "\xed\xa0\x80",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "caf\xe9 au lait"})
    CHECK_FALSE(is_text(bad));
}

TEST_CASE("the last character of a piece may be incomplete") {
  CHECK(is_text("\xe2\x82"));
}

TEST_CASE("a piece that is not text is not passed on, but all pieces before it are") {
  std::string shown;
  TextSink sink(std::make_unique<StringSink>(shown));
  sink.write(bytes_of("first, \xc3"));
  sink.write(bytes_of("\xa9t\xc3\xa9\xc2"));
  CHECK(failure_of([&] { sink.write(bytes_of("\x9b")); }) ==
        "usage: refusing to write binary plaintext to a terminal");
  CHECK(shown == "first, \xc3\xa9t\xc3\xa9\xc2");
  std::string whole;
  TextSink other(std::make_unique<StringSink>(whole));
  other.write(bytes_of("text\n"));
  CHECK(failure_of([&] { other.write(bytes_of("much text and then\n\0"sv)); }) != "");
  CHECK(whole == "text\n");
}

TEST_CASE("finish() is passed on") {
  std::string shown;
  TextSink sink(std::make_unique<StringSink>(shown));
  sink.write(bytes_of("text"));
  sink.finish();
  CHECK(shown == "text(end)");
}

}  // namespace gpuaes
