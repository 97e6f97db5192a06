#include "format/opened_input.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/bytes.hpp"
#include "format/sealed.hpp"
#include "io/armor.hpp"

namespace gpuaes {
namespace {

// The format whose armor the input begins with, perhaps after white space; or null. Waits for no more input
// than the detection of formats does, unless there is white space.
const Format* find_armored_format(HeaderReader& input) {
  constexpr std::size_t begin_bytes = sealed_magic.size();  // of a BEGIN line: enough to tell formats apart
  for (std::size_t margin = 0; margin <= max_armor_margin;) {
    const std::span<const std::byte> begin = input.peek(margin + begin_bytes);
    std::string_view text = as_text(begin);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    for (const Format& format : all_formats())
      if (!format.armor.empty() && text.starts_with(armor_begin(format.armor).substr(0, begin_bytes)))
        return &format;
    if (begin.size() - text.size() == margin) return nullptr;
    margin = begin.size() - text.size();
  }
  return nullptr;
}

}  // namespace

HeaderReader header_reader(Source& source, PartsDirectory* directory) {
  return HeaderReader([&source, directory](std::span<std::byte> out) {
    const std::size_t count = source.read(out);
    return count > 0 || directory == nullptr ? count : directory->index.read(out);
  });
}

OpenedInput::OpenedInput(Source& source, PartsDirectory* directory, const Format* named)
    : pasted_(source.is_terminal() ? make_pasted_source(source) : nullptr),
      source_(pasted_ ? *pasted_ : source),
      header(header_reader(source_, directory)) {
  if (named != nullptr && named->armor.empty()) return;
  const Format* const format = find_armored_format(header);
  if (format == nullptr || (named != nullptr && named != format)) return;
  armored_format_ = format;
  armor_ = make_armor_source(format->armor, source_, header.peeked());
  header = header_reader(*armor_);
}

}  // namespace gpuaes
