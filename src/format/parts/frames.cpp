#include "format/parts/frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/sessions.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {

std::array<std::byte, frame_header_bytes> encode(const FrameHeader& header) {
  std::array<std::byte, frame_header_bytes> bytes;
  bytes[0] = static_cast<std::byte>(header.kind);
  store_big_endian(header.number, std::span(bytes).subspan(1, 4));
  store_big_endian(header.of, std::span(bytes).subspan(5, 4));
  store_big_endian(header.length, std::span(bytes).subspan(9, 8));
  std::ranges::copy(header.message_header, bytes.begin() + 17);
  return bytes;
}

std::optional<FrameHeader> decode_frame(std::span<const std::byte, frame_header_bytes> bytes) {
  FrameHeader header{.kind = static_cast<FrameKind>(bytes[0]),
                     .number = static_cast<std::uint32_t>(load_big_endian(bytes.subspan(1, 4))),
                     .of = static_cast<std::uint32_t>(load_big_endian(bytes.subspan(5, 4))),
                     .length = load_big_endian(bytes.subspan(9, 8))};
  std::ranges::copy(bytes.last<message_header_bytes>(), header.message_header.begin());
  if (header.kind != FrameKind::part && header.kind != FrameKind::index) return std::nullopt;
  return header;
}

bool is_part(const FrameHeader& header, std::uint32_t number, Cipher cipher) {
  const bool placed = header.number == number && number < (header.of == 0 ? max_parts : header.of);
  return header.kind == FrameKind::part && placed && header.of <= max_parts &&
         header.length < max_part_bytes(cipher);
}

bool is_index(const FrameHeader& header, std::uint64_t parts) {
  return header.kind == FrameKind::index && header.number == parts && header.of == parts &&
         header.length == parts * index_entry_bytes;
}

std::uint64_t max_part_bytes(Cipher cipher) {
  return info(cipher).suite->max_segments * segment_bytes;
}

IndexEntry entry_of(const FrameHeader& header) {
  IndexEntry entry{.length = header.length};
  std::ranges::copy(header.commitment(), entry.commitment.begin());
  return entry;
}

std::array<std::byte, index_entry_bytes> encode(const IndexEntry& entry) {
  std::array<std::byte, index_entry_bytes> bytes;
  store_big_endian(entry.length, std::span(bytes).first(8));
  std::ranges::copy(entry.commitment, bytes.begin() + 8);
  return bytes;
}

bool is_listed(const FrameHeader& header, std::uint32_t number, const IndexEntry& entry, std::uint64_t parts,
               Cipher cipher) {
  return is_part(header, number, cipher) && (header.of == 0 || header.of == parts) &&
         entry_of(header) == entry;
}

namespace {

// Magic, suite, the beginning of the frame's header, label.
std::vector<std::byte> frame_context(const FrameSecret& secret, std::span<const std::byte> begin) {
  return concatenate(secret.magic_and_suite, begin, bytes_of(secret.label.value_or("")));
}

constexpr std::size_t kind_and_numbers_bytes = 9;

// `header` is the header of a part, which begins with its kind.
std::array<std::byte, mac_bytes> receipt_mac(const FrameSecret& secret, std::span<const std::byte> header) {
  return make_mac(secret.file_key, "gpuaes-stream/1 receipt", frame_context(secret, header));
}

}  // namespace

FrameSecret make_frame_secret(Cipher cipher, const Secret& file_key, std::span<const std::byte> header,
                              const std::optional<std::string>& label) {
  const auto begin = header.first(sealed_context_bytes);
  return {cipher, file_key.copy(), {begin.begin(), begin.end()}, label};
}

std::unique_ptr<Session> seal_frame(const FrameSecret& secret, FrameKind kind, std::uint32_t number,
                                    std::uint32_t of, std::uint64_t length) {
  const auto header = encode(FrameHeader{kind, number, of, length, {}});
  const auto begin = std::span(header).first(header.size() - message_header_bytes);
  const std::vector<std::byte> context = frame_context(secret, begin.first(kind_and_numbers_bytes));
  return seal_message({secret.cipher, secret.file_key.bytes(), context}, {begin.begin(), begin.end()});
}

std::unique_ptr<Session> open_frame(const FrameSecret& secret, const FrameHeader& header,
                                    const MessagePlace& place) {
  const auto bytes = encode(header);
  const std::vector<std::byte> context =
      frame_context(secret, std::span(bytes).first<kind_and_numbers_bytes>());
  return open_message({secret.cipher, secret.file_key.bytes(), context}, header.message_header, place);
}

std::array<std::byte, receipt_bytes> make_receipt(const FrameSecret& secret, const FrameHeader& part) {
  const auto header = encode(part);
  std::array<std::byte, receipt_bytes> receipt;
  const auto mac = std::ranges::copy(std::span(header).subspan(1), receipt.begin()).out;
  std::ranges::copy(receipt_mac(secret, header), mac);
  return receipt;
}

std::optional<FrameHeader> open_receipt(const FrameSecret& secret,
                                        std::span<const std::byte, receipt_bytes> receipt) {
  std::array<std::byte, frame_header_bytes> bytes{static_cast<std::byte>(FrameKind::part)};
  std::ranges::copy(receipt.first<frame_header_bytes - 1>(), bytes.begin() + 1);
  if (!is_equal(receipt_mac(secret, bytes), receipt.last<mac_bytes>())) return std::nullopt;
  const std::optional<FrameHeader> header = decode_frame(bytes);
  return open_frame(secret, *header, {}) ? header : std::nullopt;
}

ShareRange cut(std::uint64_t size, const Share& share, std::uint64_t unit) {
  const std::uint64_t units = size / unit + (size % unit != 0 ? 1 : 0);
  const std::uint64_t each = units / share.of, rest = units % share.of;
  const auto begin = [&](std::uint64_t number) {
    return std::min(size, unit * (each * number + std::min(number, rest)));
  };
  return {begin(share.number), begin(std::uint64_t{share.number} + 1) - begin(share.number)};
}

// The index ----------------------------------------------------------------------------------------

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

IndexEntry decode_entry(std::span<const std::byte, index_entry_bytes> bytes) {
  IndexEntry entry{.length = load_big_endian(bytes.first(8))};
  std::ranges::copy(bytes.last<commitment_bytes>(), entry.commitment.begin());
  return entry;
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
  std::vector<std::byte> in_room(sealed_segment_bytes), out_room(segment_bytes);
  const std::uint64_t size = sealed_size(header.length);
  for (std::uint64_t offset = 0; offset < size; offset += in_room.size()) {
    const auto in = std::span(in_room).first(std::min<std::uint64_t>(in_room.size(), size - offset));
    const auto out = std::span(out_room).first(in.size() - tag_bytes);
    read(in);
    if (run_piece(*session, {offset, in, out}).error) refuse_parts(at + offset, "the index");
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
