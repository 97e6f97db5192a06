#include "io/text_sink.hpp"

#include <algorithm>
#include <utility>

#include "error.hpp"
#include "texts.hpp"

namespace gpuaes {
namespace {

constexpr unsigned char delete_control = 0x7f;

bool is_shown(unsigned char byte) {
  const bool of_lines = byte == '\b' || byte == '\t' || byte == '\n' || byte == '\f' || byte == '\r';
  return of_lines || (byte >= 0x20 && byte != delete_control);
}

}  // namespace

bool TextCheck::is_text(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes,
                             [this](std::byte byte) { return take(static_cast<unsigned char>(byte)); });
}

// Table 3-7 of the Unicode standard, without the C1 controls, which are U+0080 to U+009F.
bool TextCheck::take(unsigned char byte) {
  if (left_ > 0) {
    const bool fits = byte >= least_ && byte <= most_;
    --left_;
    least_ = 0x80, most_ = 0xbf;
    return fits;
  }
  if (byte < 0x80) return is_shown(byte);
  if (byte < 0xc2 || byte > 0xf4) return false;
  left_ = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
  if (byte == 0xc2 || byte == 0xe0) least_ = 0xa0;
  if (byte == 0xf0) least_ = 0x90;
  if (byte == 0xed) most_ = 0x9f;
  if (byte == 0xf4) most_ = 0x8f;
  return true;
}

void TextSink::write(std::span<const std::byte> bytes) {
  if (!check_.is_text(bytes)) throw UsageError(text::binary_to_terminal, text::to_terminal_hint);
  sink_->write(bytes);
}

}  // namespace gpuaes
