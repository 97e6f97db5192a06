#include "io/text_sink.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace gpuaes {
namespace {

constexpr unsigned char delete_control = 0x7f;

bool is_shown(unsigned char byte) {
  const bool is_layout = byte == '\b' || byte == '\t' || byte == '\n' || byte == '\f' || byte == '\r';
  return is_layout || (byte >= 0x20 && byte != delete_control);
}

}  // namespace

bool TextSink::is_text(std::byte next) {
  const auto byte = static_cast<unsigned char>(next);
  const bool is_c1_control = before_ == 0xc2 && byte < 0xa0;  // U+0080 to U+009F
  before_ = byte;
  return utf8_.take(byte) && !is_c1_control && is_shown(byte);
}

void TextSink::write(std::span<const std::byte> bytes) {
  if (!std::ranges::all_of(bytes, [this](std::byte byte) { return is_text(byte); }))
    throw UsageError("refusing to write binary plaintext to a terminal", Advice::redirect_output);
  sink_->write(bytes);
}

}  // namespace gpuaes
