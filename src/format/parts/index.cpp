#include "format/parts/index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "cipher/modes/aead.hpp"

namespace gpuaes {

PartsIndex::PartsIndex(std::vector<IndexEntry> entries)
    : entries_(std::move(entries)), begins_(entries_.size() + 1), plaintext_(entries_.size() + 1) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    begins_[i + 1] = begins_[i] + sealed_size(entries_[i].length);
    plaintext_[i + 1] = plaintext_[i] + entries_[i].length;
  }
}

PartPlace PartsIndex::place(std::uint32_t number) const {
  return {number, begins_[number], begins_[number + 1], plaintext_[number]};
}

PartPlace PartsIndex::part_in(const std::vector<std::uint64_t>& begins, std::uint64_t offset) const {
  const auto next = std::upper_bound(begins.begin(), begins.end() - 1, offset);
  return place(static_cast<std::uint32_t>(next - begins.begin() - 1));
}

// Reading -----------------------------------------------------------------------------------------

namespace {

[[noreturn]] void refuse_index(std::uint64_t at) {
  throw AuthError(
      fmt::format("the input is corrupt or truncated at byte {}: its index is missing or damaged", at));
}

// Not authenticated.
std::uint64_t read_part_count(const Source& source, std::uint64_t size) {
  std::array<std::byte, part_count_bytes> bytes;
  source.read_at(size - bytes.size(), bytes);
  return load_big_endian(bytes);
}

// Memory for the entries is not reserved: their number is not authenticated yet.
std::vector<IndexEntry> read_entries(const Source& source, std::uint64_t offset, const FrameSecret& secret,
                                     const FrameHeader& header, std::uint64_t at) {
  std::vector<std::byte> bytes;
  const auto read = [&](std::span<std::byte> out) {
    source.read_at(offset, out);
    offset += out.size();
  };
  open_index(secret, header, at, read, [&bytes](auto out) { append(bytes, out); });
  std::vector<IndexEntry> entries;
  entries.reserve(bytes.size() / index_entry_bytes);
  for (std::span<const std::byte> rest = bytes; !rest.empty(); rest = rest.subspan(index_entry_bytes))
    entries.push_back(decode_entry(rest.first<index_entry_bytes>()));
  return entries;
}

// Whether the parts, with their frame headers, have `size` bytes.
bool have_size(std::span<const IndexEntry> parts, std::uint64_t size, Cipher cipher) {
  for (const IndexEntry& part : parts) {
    if (part.length >= max_part_bytes(cipher) || size < frame_header_bytes + sealed_size(part.length))
      return false;
    size -= frame_header_bytes + sealed_size(part.length);
  }
  return size == 0;
}

}  // namespace

void refuse_parts(std::uint64_t at, std::string_view what) {
  throw AuthError(fmt::format("the input is corrupt at byte {}, in {}", at, what));
}

void open_index(const FrameSecret& secret, const FrameHeader& header, std::uint64_t at,
                const std::function<void(std::span<std::byte>)>& read,
                const std::function<void(std::span<const std::byte>)>& take) {
  const std::unique_ptr<Session> session = open_frame(secret, header, {.input_bytes = at});
  if (!session) refuse_parts(at - frame_header_bytes, "the header of the index");
  std::unique_ptr<Aead> aead;
  std::vector<std::byte> in_room(sealed_segment_bytes), out_room(segment_bytes);
  const std::uint64_t size = sealed_size(header.length);
  for (std::uint64_t offset = 0; offset < size; offset += in_room.size()) {
    const auto in = std::span(in_room).first(std::min<std::uint64_t>(in_room.size(), size - offset));
    const auto out = std::span(out_room).first(in.size() - tag_bytes);
    read(in);
    const Job job = session->job({offset, in, out});
    if (!aead) aead = make_aead(job);
    if (aead->open(job)) refuse_parts(at + offset, "the index");
    take(out);
  }
}

// The number of parts is not authenticated, and serves only to find the index.
FoundIndex read_index(const Source& source, std::uint64_t size, std::optional<std::uint64_t> before,
                      const FrameSecret& secret, std::uint64_t in_input) {
  constexpr std::uint64_t min_part_bytes = frame_header_bytes + sealed_size(0);
  if (size < part_count_bytes) refuse_index(in_input + size);
  const std::uint64_t end = size - part_count_bytes, count = read_part_count(source, size);
  if (count < 1 || count > max_parts) refuse_index(in_input + end);
  const std::uint64_t index_bytes = frame_header_bytes + sealed_size(count * index_entry_bytes);
  if (end < index_bytes || (before && end - index_bytes + *before < count * min_part_bytes))
    refuse_index(in_input + end);
  const std::uint64_t at = end - index_bytes, segments_at = at + frame_header_bytes;
  const std::optional<FrameHeader> header = read_frame_header(source, at);
  if (!header || !is_index(*header, count)) refuse_index(in_input + at);
  FoundIndex index{at, *header, read_entries(source, segments_at, secret, *header, in_input + segments_at)};
  if (before && !have_size(index.entries, at + *before, secret.cipher)) refuse_index(in_input + at);
  return index;
}

FoundIndex read_index_file(const FdSource& file, const FrameSecret& secret) {
  try {
    FoundIndex index = read_index(file, file.size().value_or(0), {}, secret, 0);
    if (index.at == 0) return index;
  } catch (const AuthError&) {
  }
  throw AuthError(fmt::format("{} is damaged, or belongs to another file", file.name()));
}

std::uint32_t read_count(const FdSource& file) {
  const std::uint64_t size = file.size().value_or(0);
  const std::uint64_t count = size < part_count_bytes ? 0 : read_part_count(file, size);
  const bool fits = count >= 1 && count <= max_parts &&
                    size == frame_header_bytes + sealed_size(count * index_entry_bytes) + part_count_bytes;
  if (!fits) throw AuthError(fmt::format("{} is damaged", file.name()));
  return static_cast<std::uint32_t>(count);
}

std::optional<FrameHeader> read_frame_header(const Source& source, std::uint64_t offset) {
  std::array<std::byte, frame_header_bytes> bytes;
  source.read_at(offset, bytes);
  return decode_frame(bytes);
}

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
