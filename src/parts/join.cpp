#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/subject.hpp"
#include "base/text.hpp"
#include "files/conflicts.hpp"
#include "format/parts/directory.hpp"
#include "format/parts/frames.hpp"
#include "format/sealed.hpp"
#include "format/sessions.hpp"
#include "io/directory.hpp"
#include "io/output_file.hpp"
#include "parts/commands.hpp"
#include "parts/job_file.hpp"
#include "parts/part_file.hpp"
#include "run/endpoints.hpp"
#include "run/output_names.hpp"
#include "terminal/context.hpp"
#include "terminal/progress.hpp"

namespace gpuaes {
namespace {

// The parts that the index lists, from their files and from receipts --------------------------------

struct JoinedPart {
  FrameHeader header;
  std::string name;  // of the file with the part or its receipt

  std::uint32_t number() const noexcept { return header.number; }
};

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

// Reads the parts with these numbers. AuthError if one does not belong to `secret` or is not complete;
// IoError if one is missing.
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

// Adds the receipts in a file. AuthError if one does not belong to `secret`.
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

// Sorts the parts, which must be all of the file. AuthError if one is given twice, or if they are not the
// parts of the planned input.
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

// Writes the index of sorted parts, and the number of parts.
void write_index(const std::vector<JoinedPart>& parts, const FrameSecret& secret, Sink& sink) {
  const auto count = static_cast<std::uint32_t>(parts.size());
  std::vector<std::byte> entries;
  entries.reserve(count * index_entry_bytes);
  for (const JoinedPart& part : parts) append(entries, encode(entry_of(part.header)));
  const std::unique_ptr<Session> session = seal_frame(secret, FrameKind::index, count, count, entries.size());
  sink.write(session->header());
  std::vector<std::byte> sealed(sealed_segment_bytes);
  for (std::size_t offset = 0; offset <= entries.size(); offset += segment_bytes) {
    const auto in = std::span(entries).subspan(offset, std::min(segment_bytes, entries.size() - offset));
    const auto out = std::span(sealed).first(in.size() + tag_bytes);
    run_piece(*session, {offset, in, out});
    sink.write(out);
  }
  std::array<std::byte, part_count_bytes> count_field;
  store_big_endian(count, count_field);
  sink.write(count_field);
}

std::vector<IndexEntry> read_entries(const FdSource& index, const FrameSecret& secret) {
  try {
    return read_index_file(index, secret).entries;
  } catch (AuthError& error) {
    error.set_hint("remove it, and join makes it again");
    throw;
  }
}

// For a joined directory, which has no job file.
std::uint32_t read_joined_count(const FdSource& index) {
  try {
    return read_count(index);
  } catch (AuthError& error) {
    error.set_hint("read the parts without it: cat DIR/head DIR/part.* | gpuaes-stream --salvage");
    throw;
  }
}

// The command -------------------------------------------------------------------------------------

// Each step can be repeated: two joins may run at once, and a join may follow one that was killed.
// join in tests/models/join.pml
class Joiner {
 public:
  Joiner(const JoinRequest& request, const Context& context)
      : request_(request), context_(context), directory_(request.directory.name) {}

  void join(Progress& progress) {
    directory_.require_private();
    std::optional<OutputTarget> output;
    if (request_.single_file) output.emplace(find_target(request_.single_file->file));
    if (output) refuse_outputs_in(directory_, {.output = *output});
    const std::optional<JobFile> job = read_job(directory_, context_);
    if (job) {
      const std::vector<JoinedPart> parts = read_all(*job);
      check_head(*job);
      write_index(parts, job->secret);
      directory_.sync();
    } else {
      const std::uint32_t count = read_joined_count(open_index());
      if (!request_.receipts.empty())
        throw IoError(
            fmt::format("{} is already joined, and without its job file, receipts cannot be compared with "
                        "its index",
                        directory_.name()),
            "gpuaes-stream --test verifies the file, with a key");
      require_member(directory_, head_name);
      for (std::uint32_t i = 0; i < count; ++i) require_member(directory_, part_name(i));
      context_.messages.note(fmt::format("{} is already joined", directory_.name()));
    }
    if (output) write_file(*output, progress);
    clean_up();
  }

 private:
  // The job file is the only other copy of the header. After a join that was killed, the head may have new
  // slots.
  void check_head(const JobFile& job) const {
    if (!directory_.has(head_name)) {
      try {
        const std::unique_ptr<Sink> head = open_member(directory_, head_name, context_);
        head->write(job.header);
        return head->close();
      } catch (const FileExists&) {  // another join has restored it
      }
    }
    FdSource file = directory_.open(head_name, context_.cancel).value();
    name_input(file.name(), [&] {
      try {
        HeaderReader input = header_reader(file);
        const SealedHeader header = read_sealed_header(input);
        if (!has_correct_mac(header, job.secret.file_key) || !input.peek(1).empty())
          throw AuthError("the input is not the header of this file");
      } catch (InputError& error) {
        error.set_hint("remove it, and join restores it");
        throw;
      }
    });
  }

  std::vector<JoinedPart> read_all(const JobFile& job) const {
    if (job.count == 0 && !request_.count)
      throw UsageError("--count is required, because the plan does not record the number of parts");
    const std::uint32_t count = job.count != 0 ? job.count : *request_.count;
    if (request_.count.value_or(count) != count)
      throw UsageError(fmt::format("the plan has {} parts, but --count is {}", count, *request_.count));
    std::vector<JoinedPart> parts;
    for (const NamedFile& named : request_.receipts) {
      FdSource file = named.open(context_.cancel);
      add_receipts(parts, file, job.secret);
    }
    const std::uint32_t listed = count_listed(directory_.list());
    if (listed > count)
      throw AuthError(fmt::format("{} is there, but the file has only {}",
                                  directory_.name_of(part_name(listed - 1)), counted(count, "part")));
    std::vector<bool> has_receipt(count);
    for (const JoinedPart& part : parts) {
      if (part.header.number >= count)
        throw AuthError(fmt::format("{} is a receipt of part {}, but the file has only {}", part.name,
                                    part.header.number, counted(count, "part")));
      has_receipt[part.header.number] = true;
    }
    std::vector<std::uint32_t> others;
    for (std::uint32_t i = 0; i < count; ++i)
      if (!has_receipt[i] || directory_.has(part_name(i))) others.push_back(i);
    std::ranges::move(read_parts(directory_, others, job.secret, context_.cancel), std::back_inserter(parts));
    sort_and_check(parts, job.input);
    context_.messages.detail(fmt::format("joining {}", counted(parts.size(), "part")));
    return parts;
  }

  void write_index(const std::vector<JoinedPart>& parts, const FrameSecret& secret) const {
    try {
      const std::unique_ptr<Sink> index = open_member(directory_, index_name, context_);
      gpuaes::write_index(parts, secret, *index);
      index->close();
    } catch (const FileExists&) {
      check_index(parts, secret);
    }
  }

  // An index that another join has written must list these attempts: a receipt may be of an older one.
  void check_index(const std::vector<JoinedPart>& parts, const FrameSecret& secret) const {
    FdSource file = directory_.open(index_name, context_.cancel).value();
    const std::vector<IndexEntry> entries = read_entries(file, secret);
    constexpr char hint[] = "if the index is outdated, remove it and join again";
    if (entries.size() != parts.size())
      throw AuthError(
          fmt::format("{} lists {}, not {}", file.name(), counted(entries.size(), "part"), parts.size()),
          hint);
    const auto other = std::ranges::mismatch(parts, entries, {}, [](const JoinedPart& part) {
                         return entry_of(part.header);
                       }).in1;
    if (other != parts.end())
      throw AuthError(fmt::format("{} lists a different attempt at part {} from the one in {}", file.name(),
                                  other->number(), other->name),
                      hint);
  }

  // Also without the job file, if the directory is joined.
  void write_file(const OutputTarget& target, Progress& progress) const {
    const std::uint32_t count = read_joined_count(open_index());
    std::vector<std::string> names{head_name};
    for (std::uint32_t i = 0; i < count; ++i) names.push_back(part_name(i));
    names.emplace_back(index_name);
    std::uint64_t size = 0;
    for (const std::string& name : names) size += open_whole(name).size().value_or(0);
    const std::unique_ptr<Sink> sink = open_sink(target,
                                                 {.terminal = SinkRules::Terminal::nothing,
                                                  .bytes = size,
                                                  .direct_from = large_output,
                                                  .warn = context_.messages.warner()},
                                                 context_.cancel);
    sink->expect(size);
    std::atomic<std::uint64_t> copied = 0;
    const Progress::Watch watch(progress, "", size, [&copied] { return Progress::Position{copied, {}}; });
    for (const std::string& name : names) {
      FdSource file = open_whole(name);
      copy_rest(file, *sink, copied);
    }
    sink->close();
  }

  FdSource open_index() const {
    std::optional<FdSource> index = directory_.open(index_name, context_.cancel);
    if (!index) throw IoError(fmt::format("{} has no job file", directory_.name()), no_job_hint);
    return std::move(*index);
  }

  // A file of the directory; a part must have the size that its header states.
  FdSource open_whole(const std::string& name) const {
    FdSource file = open_needed(directory_, name, context_.cancel);
    if (!name.starts_with("part.")) return file;
    const std::uint64_t size = file.size().value_or(0);
    const auto header = size >= frame_header_bytes ? read_frame_header(file, 0) : std::nullopt;
    if (!header || size != frame_header_bytes + sealed_size(header->length))
      throw AuthError(fmt::format("{} is truncated or has trailing bytes", file.name()));
    return file;
  }

  // What attempts have left, and, as the last step, the job file. It is needed for another index if a receipt
  // turns out to be of another attempt than the part, which only a reader of the part can detect.
  // remove_job() in tests/models/join.pml
  void clean_up() const {
    for (const std::string& name : directory_.list()) {
      if (!parse_attempt(name) && !name.ends_with(kept_suffix)) continue;
      const std::optional<struct stat> status = directory_.status_of(name);
      if (status && !S_ISDIR(status->st_mode)) directory_.remove(name);
    }
    if (!request_.receipts.empty())
      return context_.messages.note(
          fmt::format("{} is still there; remove it once gpuaes-stream --test has verified all parts",
                      directory_.name_of(job_name)));
    directory_.remove(job_name);
    directory_.sync();
  }

  const JoinRequest& request_;
  const Context context_;
  Directory directory_;
};

}  // namespace

void run_join(const JoinRequest& request, const Messages& messages) {
  RunControl control(messages);
  Progress progress(control.signals, messages, request.progress);
  if (request.single_file) warn_of_ending(request.single_file->file, sealed_format, messages);
  Joiner(request, control.context).join(progress);
}

}  // namespace gpuaes
