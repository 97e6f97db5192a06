#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "format/sessions.hpp"
#include "io/output_file.hpp"
#include "parts/commands.hpp"
#include "parts/job_file.hpp"
#include "parts/part_file.hpp"
#include "parts/part_run.hpp"
#include "run/file_conflicts.hpp"
#include "run/filter.hpp"
#include "run/range_stream.hpp"

namespace gpuaes {
namespace {

constexpr char kept_hint[] = "it was not changed; choose another file";

// Writes a part, whose length may be known only at its end.
class PartSink : public Sink {
 public:
  PartSink(Sink& inner, const FrameHeader& header) : inner_(inner), header_(header) {}

  void expect(std::uint64_t size) override { inner_.expect(size); }
  void write(std::span<const std::byte> bytes) override {
    inner_.write(bytes);
    written_ += bytes.size();
  }
  void finish() override {
    const std::uint64_t announced = std::exchange(header_.length, opened_size(written_ - frame_header_bytes));
    if (header_.length != announced) inner_.overwrite(0, encode(header_));
    inner_.finish();
  }

  const FrameHeader& header() const noexcept { return header_; }

 private:
  Sink& inner_;
  FrameHeader header_;
  std::uint64_t written_ = 0;
};

class Sealer {
 public:
  Sealer(const Options& options, const Messages& messages, Cancel& cancel)
      : options_(options),
        messages_(messages),
        cancel_(cancel),
        targets_(find_outputs(options)),
        job_(read_job(options.job, messages, cancel)) {}

  void seal(Progress& progress) {
    if (exists()) return keep_existing();
    try {
      write_receipt(seal_new(progress));
    } catch (const FileExists&) {  // completed by another attempt in the meantime
      keep_existing();
    }
  }

 private:
  bool exists() const {
    struct stat status {};
    return lstat(options_.output->c_str(), &status) == 0;
  }

  FrameHeader seal_new(Progress& progress) {
    const Report::Start start;
    Endpoints endpoints = open_endpoints(options_, targets_, messages_, cancel_);
    const std::optional<std::uint64_t> size = endpoints.source.size();
    std::optional<WindowSource> share;
    std::optional<std::uint64_t> length = size;
    if (options_.part.of != 0) {
      if (!size)
        throw UsageError(fmt::format("{} is not a regular file or block device, and cannot be cut into parts",
                                     endpoints.source.name()),
                         "use --part I to seal all of an input as one part");
      const ShareRange range = cut(*size, {options_.part.number, options_.part.of});
      share.emplace(endpoints.source, range.offset, range.length);
      length = range.length;
    }
    std::unique_ptr<Session> session =
        seal_frame(job_.secret, FrameKind::part, options_.part.number, options_.part.of, length.value_or(0));
    const std::span<const std::byte> header = session->header();
    PartSink sink(*endpoints.output, *decode_frame(header.first<frame_header_bytes>()));
    const std::unique_ptr<OpenStream> stream =
        make_whole_stream({.source = share ? static_cast<Source&>(*share) : endpoints.source,
                           .sink = sink,
                           .session = std::move(session),
                           .body_bytes = length,
                           .stated_bytes = options_.size},
                          false);
    run_stream(options_, start, endpoints, *stream, progress, messages_, cancel_);
    return sink.header();
  }

  // IoError or AuthError if the file is anything other than this part.
  void keep_existing() {
    const std::string& name = *options_.output;
    const OutputTarget target = find_output(name);
    if (!target.status || !S_ISREG(target.status->st_mode))
      throw IoError(fmt::format("{} exists and is not a regular file", name));
    refuse_output_conflicts(options_, {.output = target, .receipt = receipt_target()});
    FdSource file = open_source(name, cancel_);
    const FrameHeader header = check_existing(file);
    if (header.number != options_.part.number || header.of != options_.part.of)
      throw IoError(fmt::format("{} exists and is part {}", name, share_text(header.number, header.of)),
                    kept_hint);
    write_receipt(header);
    messages_.note(fmt::format("part {} is already complete; {} was not changed", header.number, name));
  }

  FrameHeader check_existing(FdSource& file) const {
    try {
      return check_part(file, job_.secret);
    } catch (const AuthError& error) {
      throw AuthError(error.what(), kept_hint);
    }
  }

  std::optional<OutputTarget> receipt_target() const {
    return options_.receipt ? std::optional(find_output(options_.receipt)) : std::nullopt;
  }

  void write_receipt(const FrameHeader& header) {
    if (!options_.receipt) return;
    with_option("--receipt", [&] {
      const std::unique_ptr<Sink> sink =
          open_sink(*receipt_target(), {.hint = "choose another file"}, cancel_);
      sink->write(make_receipt(job_.secret, header));
      sink->finish();
    });
  }

  const Options& options_;
  const Messages& messages_;
  Cancel& cancel_;
  OutputTargets targets_;
  JobFile job_;
};

}  // namespace

void run_seal(Options options, const Messages& messages) {
  run_part(options, messages,
           [&](Progress& progress, Cancel& cancel) { Sealer(options, messages, cancel).seal(progress); });
}

}  // namespace gpuaes
