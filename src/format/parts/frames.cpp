#include "format/parts/frames.hpp"

#include <algorithm>

#include "base/bytes.hpp"
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

IndexEntry decode_entry(std::span<const std::byte, index_entry_bytes> bytes) {
  IndexEntry entry{.length = load_big_endian(bytes.first(8))};
  std::ranges::copy(bytes.last<commitment_bytes>(), entry.commitment.begin());
  return entry;
}

bool is_listed(const FrameHeader& header, std::uint32_t number, const IndexEntry& entry, std::uint64_t parts,
               Cipher cipher) {
  return is_part(header, number, cipher) && (header.of == 0 || header.of == parts) &&
         entry_of(header) == entry;
}

namespace {

// Magic, suite, the frame's kind and numbers, label.
std::vector<std::byte> frame_context(const FrameSecret& secret, std::span<const std::byte> kind_and_numbers) {
  std::vector<std::byte> context = secret.magic_and_suite;
  append(context, kind_and_numbers);
  if (secret.label) append(context, bytes_of(*secret.label));
  return context;
}

constexpr std::size_t kind_and_numbers_bytes = 9;

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

namespace {

// `header` is the header of a part, which begins with its kind.
std::array<std::byte, mac_bytes> receipt_mac(const FrameSecret& secret, std::span<const std::byte> header) {
  std::vector<std::byte> message = secret.magic_and_suite;
  append(message, header);
  if (secret.label) append(message, bytes_of(*secret.label));
  return make_mac(secret.file_key, "gpuaes-stream/1 receipt", message);
}

}  // namespace

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

}  // namespace gpuaes
