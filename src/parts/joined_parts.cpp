#include "parts/joined_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "lane/backends.hpp"
#include "parts/part_file.hpp"
#include "run/endpoints.hpp"

namespace gpuaes {
namespace {

std::uint32_t number_of(const JoinedPart& part) {
  return part.header.number;
}

// For messages.
std::string share_of(const JoinedPart& part) {
  return share_text(part.header.number, part.header.of);
}

void check_shares(const std::vector<JoinedPart>& parts) {
  const JoinedPart& first = parts.front();
  for (const JoinedPart& part : parts)
    if (part.header.of != first.header.of)
      throw AuthError(fmt::format("{} is part {}, but {} is part {}; they cannot be parts of one file",
                                  *first.name, share_of(first), *part.name, share_of(part)));
  const auto same = std::ranges::adjacent_find(parts, {}, number_of);
  if (same != parts.end())
    throw AuthError(fmt::format("part {} was given twice, as {} and {}", number_of(*same), *same->name,
                                *std::next(same)->name));
}

void check_numbers(const std::vector<JoinedPart>& parts, std::uint32_t count) {
  const auto out_of_place = std::ranges::find_if(parts, [&parts](const JoinedPart& part) {
    return number_of(part) != static_cast<std::size_t>(&part - parts.data());
  });
  const auto present = static_cast<std::size_t>(out_of_place - parts.begin());
  if (present < count)
    throw AuthError(
        fmt::format("part {} is missing; {} of {} parts were given", present, parts.size(), count));
  if (parts.size() > count)
    throw AuthError(
        fmt::format("part {} ({}) was given, but --count is {}", count, *parts[count].name, count));
}

void check_lengths(const std::vector<JoinedPart>& parts) {
  std::uint64_t total = 0;  // or the maximum, which is not the sum of any cut
  for (const JoinedPart& part : parts)
    total += std::min(part.header.length, std::numeric_limits<std::uint64_t>::max() - total);
  for (const JoinedPart& part : parts) {
    const std::uint64_t length = cut(total, {number_of(part), part.header.of}).length;
    if (part.header.length != length)
      throw AuthError(
          fmt::format("part {} ({}) has {} bytes of plaintext, not {}; the parts were cut from inputs of "
                      "different sizes",
                      number_of(part), *part.name, part.header.length, length),
          "seal all parts again, from an input that does not change");
  }
}

}  // namespace

void add_part(std::vector<JoinedPart>& parts, const std::string& name, FdSource& file,
              const FrameSecret& secret) {
  parts.push_back({check_part(file, secret), &name});
}

void add_receipts(std::vector<JoinedPart>& parts, const std::string& name, FdSource& file,
                  const FrameSecret& secret) {
  HeaderReader reader = header_reader(file);
  do {
    std::array<std::byte, receipt_bytes> receipt;
    const bool complete = reader.peek(receipt.size()).size() == receipt.size();
    if (complete) reader.take(receipt);
    const std::optional<FrameHeader> header = complete ? open_receipt(secret, receipt) : std::nullopt;
    if (!header || !is_part(*header, header->number, secret.cipher))
      throw AuthError(fmt::format("{} is not a receipt for this job file, or is damaged", file.name()));
    parts.push_back({*header, &name});
  } while (!reader.peek(1).empty());
}

void sort_and_check(std::vector<JoinedPart>& parts, std::optional<std::uint32_t> count) {
  std::ranges::sort(parts, {}, number_of);
  check_shares(parts);
  const std::uint32_t of = parts.front().header.of;
  if (of == 0 && !count) throw UsageError("--count is required for parts that were not sealed as --part I/N");
  if (of != 0 && count.value_or(of) != of)
    throw AuthError(fmt::format("part {} ({}) is one of {}, but --count is {}", number_of(parts.front()),
                                *parts.front().name, of, *count));
  check_numbers(parts, of != 0 ? of : *count);
  if (of != 0) check_lengths(parts);
}

void write_index(const std::vector<JoinedPart>& parts, const FrameSecret& secret, Sink& sink) {
  const auto count = static_cast<std::uint32_t>(parts.size());
  std::vector<std::byte> entries;
  entries.reserve(count * index_entry_bytes);
  for (const JoinedPart& part : parts) append(entries, encode(entry_of(part.header)));
  const std::unique_ptr<Session> session = seal_frame(secret, FrameKind::index, count, count, entries.size());
  sink.write(session->header());
  const std::unique_ptr<Lane> lane = make_cpu_lane();
  std::vector<std::byte> sealed(sealed_segment_bytes);
  for (std::size_t offset = 0; offset <= entries.size(); offset += segment_bytes) {
    const auto in = std::span(entries).subspan(offset, std::min(segment_bytes, entries.size() - offset));
    const auto out = std::span(sealed).first(in.size() + tag_bytes);
    lane->start(session->job({offset, in, out}));
    lane->finish();
    sink.write(out);
  }
  std::array<std::byte, part_count_bytes> count_field;
  store_big_endian(count, count_field);
  sink.write(count_field);
}

}  // namespace gpuaes
