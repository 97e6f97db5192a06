#include "format/parts/indexed_source.hpp"

#include <fmt/format.h>

#include <utility>

namespace gpuaes {

void IndexedParts::set_index(FoundIndex index) {
  session_.set_commitment(index.header);
  session_.set_index(PartsIndex(std::move(index.entries)));
}

std::uint64_t IndexedParts::message_end(std::uint64_t offset) {
  return offset < index().body_bytes() ? index().part_at(offset).end : offset;
}

void IndexedParts::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const PartPlace part = index().part_at(offset);
  if (!session_.is_open(part)) open_part(part, header_of(part));
  read_segments(part, offset - part.begin, out);
}

void IndexedParts::open_part(const PartPlace& part, const std::optional<FrameHeader>& header) const {
  if (header && matches_index(*header, part.number) && session_.open_part(*header, part)) return;
  if (!salvage_)
    refuse_parts(session_.input_offset(part) - frame_header_bytes,
                 fmt::format("the header of part {}", part.number));
  session_.lose_part(part);
}

// All parts must have been cut from one input, and so have the same `of`.
bool IndexedParts::matches_index(const FrameHeader& header, std::uint32_t number) const {
  std::int64_t of = -1;
  const bool same_cut = of_.compare_exchange_strong(of, header.of) || of == header.of || salvage_;
  return same_cut && is_listed(header, number, index().entry(number), index().count(), session_.cipher());
}

}  // namespace gpuaes
