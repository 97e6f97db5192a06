#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "io/output_file.hpp"
#include "parts/commands.hpp"
#include "parts/job_file.hpp"
#include "parts/joined_parts.hpp"
#include "parts/part_file.hpp"
#include "run/endpoints.hpp"
#include "run/file_conflicts.hpp"

namespace gpuaes {
namespace {

// There may be too many parts to keep them all open.
std::vector<JoinedPart> read_parts(const Options& options, const FrameSecret& secret, Cancel& cancel) {
  std::vector<JoinedPart> parts;
  for (const std::string& name : options.inputs) {
    cancel.check();
    if (name == standard_name && !options.receipts)  // parts are read twice
      throw UsageError("join cannot read a part from standard input", "name the file of the part");
    FdSource file = open_source(name, cancel);
    (options.receipts ? add_receipts : add_part)(parts, name, file, secret);
  }
  sort_and_check(parts, options.count);
  return parts;
}

[[noreturn]] void refuse_changed(const JoinedPart& part) {
  throw IoError(
      fmt::format("part {} ({}) changed while the parts were being joined", part.header.number, *part.name));
}

// The part was checked before, and must not have changed since.
void copy_part(const JoinedPart& part, Sink& sink, std::atomic<std::uint64_t>& copied, Cancel& cancel) {
  FdSource file = open_source(*part.name, cancel);
  std::array<std::byte, frame_header_bytes> header{};
  if (file.size() >= header.size()) header_reader(file).take(header);
  if (header != encode(part.header)) refuse_changed(part);
  sink.write(header);
  copied += header.size();
  const std::uint64_t before = copied;
  copy_rest(file, sink, copied);
  if (copied - before != sealed_size(part.header.length)) refuse_changed(part);
}

class Joiner {
 public:
  Joiner(const Options& options, const Messages& messages, Cancel& cancel)
      : options_(options),
        messages_(messages),
        cancel_(cancel),
        job_(read_job(options.job, messages, cancel)) {}

  void join(Progress& progress) {
    std::vector<OutputTarget> outputs;
    if (options_.ends.empty())
      outputs.push_back(find_output(options_.output));
    else
      for (const char* const suffix : {".head", ".index"})
        outputs.push_back(find_output(options_.ends + suffix));
    for (const OutputTarget& output : outputs) refuse_output_conflicts(options_, {.output = output});
    parts_ = read_parts(options_, job_.secret, cancel_);
    messages_.detail(fmt::format("joining {} parts", parts_.size()));
    options_.ends.empty() ? write_file(outputs.front(), progress)
                          : write_ends(outputs.front(), outputs.back());
  }

 private:
  std::unique_ptr<Sink> open(const char* option, const OutputTarget& target) const {
    return with_option(option, [&] {
      return open_sink(target,
                       {.terminal = SinkRules::Terminal::nothing,
                        .warn = [this](const std::string& text) { messages_.warning(text); }},
                       cancel_);
    });
  }

  void write_file(const OutputTarget& target, Progress& progress) const {
    const std::unique_ptr<Sink> sink = open(options_.output ? "--output" : "", target);
    std::uint64_t size = job_.header.size();
    for (const JoinedPart& part : parts_) size += frame_header_bytes + sealed_size(part.header.length);
    sink->expect(size);
    std::atomic<std::uint64_t> copied = job_.header.size();
    const Progress::Watch watch(progress, size, [&copied] { return Progress::Position{copied, {}}; });
    sink->write(job_.header);
    for (const JoinedPart& part : parts_) copy_part(part, *sink, copied, cancel_);
    write_index(parts_, job_.secret, *sink);
    sink->finish();
  }

  void write_ends(const OutputTarget& head_target, const OutputTarget& index_target) const {
    const std::unique_ptr<Sink> head = open("--ends", head_target), index = open("--ends", index_target);
    head->write(job_.header);
    write_index(parts_, job_.secret, *index);
    head->finish();
    index->finish();
  }

  const Options& options_;
  const Messages& messages_;
  Cancel& cancel_;
  JobFile job_;
  std::vector<JoinedPart> parts_;
};

}  // namespace

void run_join(const Options& options, const Messages& messages) {
  RunControl control(messages);
  Progress progress(control.signals, messages, options.progress);
  Joiner(options, messages, control.cancel).join(progress);
}

}  // namespace gpuaes
