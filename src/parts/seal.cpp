#include <fmt/format.h>
#include <sys/stat.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "files/conflicts.hpp"
#include "format/parts/directory.hpp"
#include "format/sessions.hpp"
#include "io/directory.hpp"
#include "io/output_file.hpp"
#include "parts/commands.hpp"
#include "parts/job_file.hpp"
#include "parts/part_file.hpp"
#include "run/filter.hpp"
#include "run/range_stream.hpp"
#include "terminal/context.hpp"
#include "terminal/progress.hpp"

namespace gpuaes {
namespace {

void check_number(const Directory& directory, std::uint32_t part, std::uint32_t count) {
  if (part >= count)
    throw UsageError(fmt::format("{} has only {}", directory.name(), counted(count, "part")),
                     "parts are numbered from 0");
}

// Writes a part, whose length may be known only at its end. At the end, calls `check_input`, and before the
// part gets its name, `write_receipt`. Either may throw.
class PartSink : public SinkWrapper {
 public:
  PartSink(Sink& inner, const FrameHeader& header, std::function<void()> check_input,
           std::function<void(const FrameHeader&)> write_receipt)
      : SinkWrapper(inner),
        header_(header),
        check_input_(std::move(check_input)),
        write_receipt_(std::move(write_receipt)) {}

  void write(std::span<const std::byte> bytes) override {
    inner_.write(bytes);
    written_ += bytes.size();
  }
  void finish() override {
    check_input_();
    const std::uint64_t announced = std::exchange(header_.length, opened_size(written_ - frame_header_bytes));
    if (header_.length != announced) inner_.overwrite(0, encode(header_));
    inner_.finish();
  }
  void publish(const std::function<void()>& last_step) override {
    inner_.publish([&] {
      last_step();
      write_receipt_(header_);
    });
  }

 private:
  FrameHeader header_;
  std::function<void()> check_input_;
  std::function<void(const FrameHeader&)> write_receipt_;
  std::uint64_t written_ = 0;
};

class Sealer {
 public:
  // `targets`: those that options name.
  Sealer(const SealRequest& request, const OutputTargets& targets, const Directory& directory,
         const JobFile& job, Progress& progress, const Context& context)
      : request_(request),
        targets_(targets),
        directory_(directory),
        job_(job),
        progress_(progress),
        context_(context) {
    refuse_outputs_in(directory_, targets_);
    show_only_devices({lanes_.choice.named});  // to seal and to verify
  }

  void seal(std::uint32_t part) {
    if (job_.count != 0) check_number(directory_, part, job_.count);
    const InputRequest input = choose_input();
    if (request_.receipt)
      run(part, input, targets_, [this](std::optional<std::uint64_t> bytes) {
        return open_sink(*targets_.output, output_rules(request_.output, {}, bytes, context_.messages),
                         context_.cancel);
      });
    else if (directory_.has(part_name(part)) || !seal_into_directory(part, input))
      keep_existing(part);
    if (request_.verify) verify(part);
  }

 private:
  using OpenOutput = std::function<std::unique_ptr<Sink>(std::optional<std::uint64_t> bytes)>;

  // The input of the plan, if it has one and no other is named.
  InputRequest choose_input() const {
    const InputRequest& given = request_.input;
    if (job_.input && !given.command.empty())
      throw UsageError(
          fmt::format("the output of a command cannot be sealed, because the plan has an input, {}",
                      job_.input->name),
          "to encrypt the outputs of commands, make a plan without an input");
    if (!job_.input || given.is_named()) return given;
    if (!given.file.option.empty())
      throw UsageError("standard input cannot be cut into parts", "name the file with -i");
    if (job_.input->is_device)
      throw UsageError(fmt::format("the input is a block device, {}, which must be named", job_.input->name),
                       "name it with -i; on another host, it may have another name");
    struct stat status {};
    const std::string& name = job_.input->name;
    if (stat(name.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) refuse_kind(name);
    InputRequest planned = given;
    planned.file.name = name;
    return planned;
  }

  // Returns false if another attempt completed the part in the meantime.
  // seal in tests/models/join.pml
  bool seal_into_directory(std::uint32_t part, const InputRequest& chosen) {
    try {
      OutputTargets targets = targets_;
      targets.output = member_target(directory_, part_name(part));
      run(part, chosen, targets, [&](std::optional<std::uint64_t> bytes) {
        SinkRules rules = member_rules(part_name(part), context_.messages);
        rules.bytes = bytes;
        return open_sink(*targets.output, rules, context_.cancel);
      });
      return true;
    } catch (const FileExists&) {
      return false;
    }
  }

  // Returns the size of the share.
  std::uint64_t open_share(std::uint32_t part, FdSource& input, std::optional<WindowSource>& share) const {
    const ShareRange range = cut(input.size().value_or(0), {part, job_.count});
    share.emplace(input, range.offset, range.length);
    return range.length;
  }

  void run(std::uint32_t part, const InputRequest& chosen, const OutputTargets& targets,
           const OpenOutput& open) {
    Reports reports;
    Endpoints endpoints = open_input(chosen, false, context_.cancel);
    FdSource& input = endpoints.source;
    refuse_output_conflicts(files_of(chosen), targets);
    std::optional<WindowSource> share;
    const std::optional<std::uint64_t> length = job_.input ? open_share(part, input, share) : input.size();
    endpoints.output = open(length ? std::optional(frame_header_bytes + sealed_size(*length)) : std::nullopt);
    reports.open(targets, context_);
    note_if_terminal(input, context_.messages);
    const std::unique_ptr<Sink> receipt = open_report(targets_.receipt, context_);
    const auto write_receipt = [&](const FrameHeader& header) {
      if (!receipt) return;
      receipt->write(make_receipt(job_.secret, header));
      receipt->close();
    };
    const auto check_input = [&] {
      if (job_.input) check_planned(*job_.input, input, request_.input.is_named());
    };
    check_input();
    if (!length && request_.receipt && !request_.output.file)
      throw UsageError("a part of unknown size cannot be written to standard output", "name a file with -o");
    std::unique_ptr<Session> session =
        seal_frame(job_.secret, FrameKind::part, part, planned_count(), length.value_or(0));
    const std::span<const std::byte> header = session->header();
    PartSink sink(*endpoints.output, *decode_frame(header.first<frame_header_bytes>()), check_input,
                  write_receipt);
    const std::unique_ptr<OpenStream> stream =
        make_whole_stream({.source = share ? static_cast<Source&>(*share) : input,
                           .sink = sink,
                           .session = std::move(session),
                           .verb = "encrypted",
                           .watched = job_.input ? nullptr : &input,
                           .from_command = endpoints.command != nullptr,
                           .body_bytes = length},
                          false);
    start_command(endpoints.command.get());
    run_stream(lanes_, std::move(reports), *stream, progress_, context_);
  }

  void start_command(ChildProcess* command) const {
    if (command == nullptr) return;
    if (const std::optional<struct stat> job = directory_.status_of(job_name)) close_in_children(*job);
    command->start();
  }

  // The number of parts, if they share one input.
  std::uint32_t planned_count() const { return job_.input ? job_.count : 0; }

  FdSource open_part(std::uint32_t part) const {
    const std::string name = part_name(part);
    if (std::optional<FdSource> file = directory_.open(name, context_.cancel)) return std::move(*file);
    throw IoError(fmt::format("{} was removed", directory_.name_of(name)));
  }

  // AuthError if the file is anything other than this part.
  void keep_existing(std::uint32_t part) const {
    FdSource file = open_part(part);
    const FrameHeader header = check_part(file, job_.secret);
    if (header.number != part || header.of != planned_count())
      throw AuthError(fmt::format("{} contains part {}", file.name(), share_text(header.number, header.of)));
    directory_.sync();  // the attempt that completed it may have been killed before it did so
    context_.messages.note(fmt::format("{} is already complete", file.name()));
  }

  // Reads all of the part.
  void verify(std::uint32_t part) {
    FdSource file = open_part(part);
    const FrameHeader header = check_part(file, job_.secret);
    NullSink sink(context_.cancel);
    const std::unique_ptr<OpenStream> stream = make_whole_stream(
        {.source = file,
         .sink = sink,
         .session = open_frame(job_.secret, header, {.input_bytes = frame_header_bytes, .part = part}),
         .verb = "verified",
         .header_bytes = frame_header_bytes,
         .body_bytes = file.size()},
        true);
    run_stream(lanes_, {}, *stream, progress_, context_);
  }

  const SealRequest& request_;
  const OutputTargets& targets_;
  const Directory& directory_;
  const JobFile& job_;
  Progress& progress_;
  const Context& context_;
  LaneRequest lanes_ = request_.lanes;
};

// Without the job file, nothing can be sealed. A task that is repeated after the join need not fail. If the
// job file is still there, parts may be elsewhere.
void keep_joined(const SealRequest& request, const Directory& directory, bool has_job,
                 const Context& context) {
  const std::optional<FdSource> index = directory.open(index_name, context.cancel);
  if (!index) throw IoError(fmt::format("{} has no job file", directory.name()), no_job_hint);
  const std::uint32_t count = read_count(*index), begin = request.part.value_or(0);
  check_number(directory, begin, count);
  const std::uint32_t end = request.part ? begin + 1 : count;
  if (!has_job)
    for (std::uint32_t i = begin; i < end; ++i) require_member(directory, part_name(i));
  if (request.receipt || request.verify || (request.part && !directory.has(part_name(begin))))
    throw IoError(fmt::format("{} is already joined", directory.name()),
                  "gpuaes-stream --test verifies it, with a key");
  context.messages.note(fmt::format("{} is already joined", directory.name()));
}

// `part` is the number of the part that is being sealed; if it is not set, all missing parts are sealed.
void seal_parts(const SealRequest& request, std::optional<std::uint32_t>& part, Progress& progress,
                const Context& context) {
  OutputTargets targets = find_outputs(request.output.file, request.reports.stats, request.reports.trace);
  if (request.receipt) targets.receipt = find_target(request.receipt);
  prepare_inputs(files_of(request.input));
  const Directory directory(request.directory.name);
  directory.require_private();
  const std::optional<JobFile> job = read_job(directory, context);
  if (!job || directory.has(index_name)) return keep_joined(request, directory, job.has_value(), context);
  Sealer sealer(request, targets, directory, *job, progress, context);
  if (part) return sealer.seal(*part);
  if (!job->input)
    throw UsageError("seal requires --part, because the plan has no input", "each part has its own input");
  for (std::uint32_t number = 0; number < job->count; ++number) {
    if (directory.has(part_name(number)) && !request.verify) continue;
    part = number;
    sealer.seal(number);
  }
  if (!part) context.messages.note(fmt::format("all parts of {} are already complete", directory.name()));
}

}  // namespace

void run_seal(const SealRequest& request, const Messages& messages) {
  RunControl control(messages);
  Progress progress(control.signals, messages, request.progress);
  std::optional<std::uint32_t> part = request.part;
  try {
    seal_parts(request, part, progress, control.context);
  } catch (const PipeClosed&) {
    throw;
  } catch (Error& error) {
    if (part) error.within(fmt::format("part {}", *part));
    throw;
  }
}

}  // namespace gpuaes
