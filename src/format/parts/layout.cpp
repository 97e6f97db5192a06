#include "format/parts/layout.hpp"

#include <optional>

#include "format/parts/frames.hpp"
#include "format/parts/index.hpp"

namespace gpuaes {

PartsLayout read_parts_layout(const Source& input, std::uint64_t begin, std::uint64_t size, Cipher cipher) {
  PartsLayout layout;
  std::uint32_t of = 0;
  for (std::uint64_t at = begin; size - at >= frame_header_bytes;) {
    const std::optional<FrameHeader> header = read_frame_header(input, at);
    at += frame_header_bytes;
    if (layout.parts == 0 && header) of = header->of;
    if (header && layout.parts > 0 && (of == 0 || of == layout.parts) && is_index(*header, layout.parts)) {
      const std::uint64_t rest = sealed_size(header->length) + part_count_bytes;
      layout.complete = size - at == rest && read_part_count(input, size) == layout.parts;
      return layout;
    }
    const bool is_next = header && layout.parts < max_parts && header->of == of &&
                         is_part(*header, static_cast<std::uint32_t>(layout.parts), cipher);
    if (!is_next || sealed_size(header->length) > size - at) return layout;
    at += sealed_size(header->length);
    ++layout.parts;
    layout.segments += header->length / segment_bytes + 1;
    layout.plaintext += header->length;
  }
  return layout;
}

}  // namespace gpuaes
