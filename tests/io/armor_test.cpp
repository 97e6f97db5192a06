// Armor: round trips, and text that is not exactly one armored stream.
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "io/armor.hpp"
#include "support/bytes.hpp"
#include "support/bytes_io.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

namespace gpuaes {
namespace {

using namespace std::literals;

constexpr std::string_view label = "TEST FILE";
const std::string begin_line = armor_begin(label) + "\n";
const std::string end_line = armor_end(label) + "\n";

// Gives at most `step` characters per read, and is ready before every other one.
class StringSource : public Source {
 public:
  StringSource(std::string text, std::size_t step) : text_(std::move(text)), step_(step) {}
  std::size_t read(std::span<std::byte> out) override {
    if (at_ == text_.size() && ended_) throw IoError("read after the end");
    const std::size_t count = std::min({step_, out.size(), text_.size() - at_});
    std::ranges::copy(bytes_of(text_).subspan(at_, count), out.begin());
    at_ += count;
    ended_ = count == 0;
    return count;
  }
  bool ready(std::chrono::milliseconds) override { return ready_ = !ready_; }

 private:
  std::string text_;
  std::size_t step_;
  std::size_t at_ = 0;
  bool ended_ = false, ready_ = false;
};

// Encodes in pieces of `step` bytes.
std::string armor(std::span<const std::byte> bytes, std::size_t step = 100) {
  Written written;
  {
    const auto sink = make_armor_sink(label, std::make_unique<TextSink>(written));
    sink->expect(bytes.size());
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(step, bytes.size())))
      sink->write(bytes.first(std::min(step, bytes.size())));
    sink->finish();
  }
  CHECK(written.finished);
  CHECK(written.expected == written.text.size());
  return written.text;
}

// Encodes with libcrypto alone.
std::string reference(std::span<const std::byte> bytes) {
  std::string text = begin_line;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min<std::size_t>(48, bytes.size()))) {
    std::array<unsigned char, 65> line{};
    const auto size = static_cast<int>(std::min<std::size_t>(48, bytes.size()));
    EVP_EncodeBlock(line.data(), reinterpret_cast<const unsigned char*>(bytes.data()), size);
    text += reinterpret_cast<const char*>(line.data()) + "\n"s;
  }
  return text + end_line;
}

struct Decoded {
  Bytes bytes;
  std::string failure;
};

Decoded decode(const std::string& text, std::size_t step = 4096, std::size_t begun = 14) {
  const std::size_t first = std::min(begun, text.size());
  StringSource source(text.substr(first), step);
  const auto armor = make_armor_source(label, source, bytes_of(text).first(first));
  Decoded decoded;
  decoded.failure = failure_of([&] {
    Bytes piece(33);
    while (const std::size_t count = armor->read(piece))
      decoded.bytes.insert(decoded.bytes.end(), piece.begin(),
                           piece.begin() + static_cast<std::ptrdiff_t>(count));
    CHECK(armor->read(piece) == 0);
  });
  CHECK(armor->ready(0s));
  return decoded;
}

// Checks that decoding fails with this message after `size` good bytes, however the text is divided.
void check_refused(const std::string& text, std::string_view message, std::size_t size) {
  for (const std::size_t step : {1, 7, 4096}) {
    const Decoded decoded = decode(text, step);
    CHECK(decoded.failure == "auth: " + std::string(message));
    CHECK(difference(decoded.bytes, test_bytes(size)).empty());
  }
}

std::string neither(int number) {
  return "line " + std::to_string(number) + " of the input is neither Base64 nor the END line of armor";
}

}  // namespace

TEST_CASE("armor is Base64 in lines of 64 characters, and decodes to what was encoded") {
  for (std::size_t size : {0, 1, 2, 3, 47, 48, 49, 95, 96, 97, 200, 16400, 49151, 49152, 49153}) {
    const Bytes bytes = test_bytes(size);
    const std::string text = reference(bytes);
    for (const std::size_t step : {1, 48, 47, 100000}) CHECK(armor(bytes, step) == text);
    for (const std::size_t step : {1, 65, 100000}) {
      const Decoded decoded = decode(text, step);
      CHECK(decoded.failure.empty());
      CHECK(difference(decoded.bytes, bytes).empty());
    }
  }
}

TEST_CASE("a line that is not canonical Base64 is refused") {
  const auto with = [](std::string_view data) { return begin_line + std::string(data) + "\n" + end_line; };
  CHECK(decode(with("AAEC")).bytes == test_bytes(3));
  CHECK(decode(with("AAE=")).bytes == test_bytes(2));
  CHECK(decode(with("AA==")).bytes == test_bytes(1));
  for (const std::string_view bad :
       {"A",    "AA",         "AAE",        "AAECA",    "AAE",      "AA=",      "A===",  "=",
        "==",   "===",        "====",       "AAEC====", "AAE=AAEC", "AA==AA==", "A=AA",  "=AAA",
        "AAF=", "AAG=",       "AB==",       "A/==",     "AA=A",     "AA-_",     "AA+_",  "AA.A",
        "AA A", " AAEC",      "AAEC ",      "AAEC   ",  "    AAEC", "AAEC\r\r", "AA\rA", "AAEC----",
        "----", "AA\x80\x41", "AA\xff\x41", "aa,a"})
    check_refused(with(bad), neither(2), 0);
  check_refused(with("AAE\0"sv), neither(2), 0);
  check_refused(with("\0AAE"sv), neither(2), 0);
  check_refused(with("AAEC\0\0\0\0"sv), neither(2), 0);
}

TEST_CASE("an armored source is ready once it has a line, its end or an error") {
  const std::string text = armor(test_bytes(48));
  StringSource source(text, 40);  // less than a line
  const auto armored = make_armor_source(label, source, {});
  Bytes piece(10);
  CHECK(!armored->ready(0s));
  CHECK(!armored->ready(0s));
  CHECK(armored->ready(0s));  // 120 characters, with a line of data
  CHECK(armored->read(piece) == 10);
  CHECK(armored->ready(0s));
  piece.resize(48);
  CHECK(armored->read(piece) == 38);
}

TEST_CASE("an error of the text's source is passed on") {
  class FailingSource : public StringSource {
   public:
    using StringSource::StringSource;
    std::size_t read(std::span<std::byte> out) override {
      const std::size_t count = StringSource::read(out);
      if (count == 0) throw IoError("the source fails");
      return count;
    }
  };
  FailingSource source(begin_line + "AAEC\n", 100);
  const auto armored = make_armor_source(label, source, {});
  Bytes piece(10);
  CHECK(armored->read(piece) == 3);
  CHECK(failure_of([&] { armored->read(piece); }) == "io: the source fails");
}

}  // namespace gpuaes
