#include "parts/joined_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "base/error.hpp"
#include "format/header_reader.hpp"
#include "format/parts/directory.hpp"
#include "parts/part_file.hpp"
#include "run/endpoints.hpp"

namespace gpuaes {
namespace {

// Lengths do not show where a part began: they must be those of the cut of the planned input.
void check_lengths(const std::vector<JoinedPart>& parts, const PlannedInput& input) {
  const auto count = static_cast<std::uint32_t>(parts.size());
  for (const JoinedPart& part : parts) {
    const std::uint64_t length = cut(input.size, {part.number(), count}).length;
    if (part.header.length != length)
      throw AuthError(
          fmt::format("{} has {} bytes of plaintext, not {}", part.name, part.header.length, length),
          "it was sealed from another input");
  }
}

}  // namespace

std::vector<JoinedPart> read_parts(const Directory& directory, const std::vector<std::uint32_t>& numbers,
                                   const FrameSecret& secret, Cancel& cancel) {
  std::vector<std::optional<JoinedPart>> found(numbers.size());
  for_each_at_once(numbers.size(), [&](std::size_t i) {
    cancel.check();
    const std::string name = part_name(numbers[i]);
    std::optional<FdSource> file = directory.open(name, cancel);
    if (!file) return;
    const FrameHeader header = check_part(*file, secret);
    if (header.number != numbers[i])
      throw AuthError(fmt::format("{} contains part {}", file->name(), header.number));
    found[i] = {header, file->name()};
  });
  std::vector<std::uint32_t> missing;
  std::vector<JoinedPart> parts;
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i] ? parts.push_back(*found[i]) : missing.push_back(numbers[i]);
  if (!missing.empty())
    throw IoError(fmt::format("{} does not contain part{} {}", directory.name(),
                              missing.size() == 1 ? "" : "s", ranges_text(missing)),
                  "gpuaes-parts status shows which parts are complete");
  return parts;
}

void add_receipts(std::vector<JoinedPart>& parts, FdSource& file, const FrameSecret& secret) {
  HeaderReader reader = header_reader(file);
  do {
    std::array<std::byte, receipt_bytes> receipt;
    const bool complete = reader.peek(receipt.size()).size() == receipt.size();
    if (complete) reader.take(receipt);
    const std::optional<FrameHeader> header = complete ? open_receipt(secret, receipt) : std::nullopt;
    if (!header || !is_part(*header, header->number, secret.cipher))
      throw AuthError(fmt::format("{} is not a receipt for this plan, or is damaged", file.name()));
    parts.push_back({*header, file.name()});
  } while (!reader.peek(1).empty());
}

void sort_and_check(std::vector<JoinedPart>& parts, const std::optional<PlannedInput>& input) {
  std::ranges::sort(parts, {}, &JoinedPart::number);
  const auto twice = std::ranges::adjacent_find(parts, {}, &JoinedPart::number);
  if (twice != parts.end()) {
    const std::string &one = twice->name, &other = std::next(twice)->name;
    throw AuthError(one == other ? fmt::format("{} was given twice, or contains two receipts of part {}", one,
                                               twice->number())
                                 : fmt::format("part {} is in both {} and {}", twice->number(), one, other));
  }
  const auto of = static_cast<std::uint32_t>(input ? parts.size() : 0);
  for (const JoinedPart& part : parts)
    if (part.header.of != of)
      throw AuthError(fmt::format("{} contains part {}, not part {}", part.name,
                                  share_text(part.number(), part.header.of), share_text(part.number(), of)));
  if (input) check_lengths(parts, *input);
}

}  // namespace gpuaes
