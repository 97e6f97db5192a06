#include "run/report.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/subject.hpp"
#include "base/text.hpp"
#include "io/output_file.hpp"
#include "run/inputs.hpp"
#include "terminal/progress.hpp"

namespace gpuaes {
namespace {

std::string describe_bytes(std::size_t bytes) {
  if (bytes >= 10 << 20 || bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 10 << 10 || bytes % (1 << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

std::string to_json(const LaneStats& lane) {
  return fmt::format(
      R"({{"name": "{}", "chunks": {}, "bytes": {}, "busy_seconds": {:.6f}, "read_seconds": {:.6f}, )"
      R"("write_seconds": {:.6f}, "wait_seconds": {:.6f}}})",
      lane.name, lane.chunks, lane.bytes, lane.busy_seconds, lane.read_seconds, lane.write_seconds,
      lane.wait_seconds);
}

std::string to_json(const Ring& ring, double lanes_wait_seconds) {
  const auto [reader_wait_seconds, writer_wait_seconds] = ring.waits();
  return fmt::format(
      R"({{"chunks": {}, "chunk_bytes": {}, "reader_wait_seconds": {:.6f}, "lanes_wait_seconds": {:.6f}, )"
      R"("writer_wait_seconds": {:.6f}}})",
      ring.chunks(), std::min(ring.in_bytes(), ring.out_bytes()), reader_wait_seconds, lanes_wait_seconds,
      writer_wait_seconds);
}

struct Stats {
  std::uint64_t bytes_in, bytes_out;
  std::string commitment;       // in hexadecimal; may be empty
  double seconds, cpu_seconds;  // elapsed, and of all threads
  std::vector<LaneStats> lanes;
};

// `more` is what follows, or "".
std::string to_json(const Stats& stats, const std::string& ring, const std::string& more) {
  std::string lanes;
  for (const LaneStats& lane : stats.lanes) lanes.append(lanes.empty() ? "" : ", ").append(to_json(lane));
  const std::string commitment = stats.commitment.empty() ? "null" : fmt::format(R"("{}")", stats.commitment);
  return fmt::format(R"({{"bytes_in": {}, "bytes_out": {}, "commitment": {}, "seconds": {:.6f}, )"
                     R"("cpu_seconds": {:.6f}, "lanes": [{}], "ring": {}, "peak_rss_bytes": {}{}}})"
                     "\n",
                     stats.bytes_in, stats.bytes_out, commitment, stats.seconds, stats.cpu_seconds, lanes,
                     ring, peak_memory(), more);
}

std::string to_json(const Stats& stats, const Ring& ring) {
  double lanes_wait_seconds = 0;
  for (const LaneStats& lane : stats.lanes) lanes_wait_seconds += lane.wait_seconds;
  return to_json(stats, to_json(ring, lanes_wait_seconds), "");
}

void write_and_close(Sink& sink, const std::string& text) {
  sink.write(std::as_bytes(std::span(text)));
  sink.close();
}

// "260 MiB".
std::string amount(double bytes) {
  const std::string padded = describe_amount(bytes);
  const std::string_view text = trim(padded);
  const std::size_t unit = text.find_first_not_of("0123456789.");
  return fmt::format("{} {}", text.substr(0, unit), trim(text.substr(unit)));
}

std::string duration(double seconds) {
  return seconds < 60 ? fmt::format("{:.{}f} s", seconds, seconds < 1 ? 3 : 1) : describe_time(seconds);
}

// "encrypted 260 MiB in 2.0 s (127 MiB/s)".
std::string headline(const OpenStream& stream, const Stats& stats) {
  const auto bytes = static_cast<double>(stream.plain_bytes(stats.bytes_in, stats.bytes_out));
  return fmt::format("{} {} in {} ({}/s)", stream.verb(), amount(bytes), duration(stats.seconds),
                     amount(bytes / std::max(stats.seconds, 1e-6)));
}

// Without wait times. Combines lanes with the same name.
std::string summary(const Stats& stats) {
  std::string text = fmt::format("{} bytes in, {} bytes out", stats.bytes_in, stats.bytes_out);
  std::vector<std::string> names;
  for (const LaneStats& lane : stats.lanes) names.push_back(lane.name);
  for (const auto& [name, indices] : group_by_name(names)) {
    std::uint64_t chunks = 0, bytes = 0;
    for (const std::size_t i : indices) {
      chunks += stats.lanes[i].chunks;
      bytes += stats.lanes[i].bytes;
    }
    text = fmt::format("{}; {}:{} did {}, {} bytes", text, name, indices.size(), counted(chunks, "chunk"),
                       bytes);
  }
  return text;
}

std::string summary(const LaneStats& lane) {
  return fmt::format("{}: {}, {} bytes; busy {:.3f} s, reading {:.3f} s, writing {:.3f} s, waiting {:.3f} s",
                     lane.name, counted(lane.chunks, "chunk"), lane.bytes, lane.busy_seconds,
                     lane.read_seconds, lane.write_seconds, lane.wait_seconds);
}

// A small file about the run, such as its statistics. Errors name its option.
class ReportSink : public SinkWrapper {
 public:
  ReportSink(std::unique_ptr<Sink> file, std::string option)
      : SinkWrapper(std::move(file)), option_(std::move(option)) {}

  void write(std::span<const std::byte> bytes) override {
    name_subject(option_, [&] { inner_.write(bytes); });
  }
  void finish() override {
    name_subject(option_, [&] { inner_.finish(); });
  }
  void publish(const std::function<void()>& last_step) override {
    name_subject(option_, [&] { inner_.publish(last_step); });
  }

 private:
  std::string option_;
};

}  // namespace

std::unique_ptr<Sink> open_report(const std::optional<OutputTarget>& target, const Context& context,
                                  bool durable) {
  if (!target) return nullptr;
  const SinkRules rules{.durable = durable,
                        .bytes = 0,
                        .temp = {.hint = "choose another file"},
                        .keep = false,
                        .warn = context.messages.warner()};
  return std::make_unique<ReportSink>(open_sink(*target, rules, context.cancel), target->option);
}

void Reports::open(const OutputTargets& targets, const Context& context) {
  stats = open_report(targets.stats, context);
  trace = open_report(targets.trace, context, false);
}

void TotalStats::add(std::uint64_t bytes_in, std::uint64_t bytes_out, const std::vector<LaneStats>& lanes) {
  const std::lock_guard lock(mutex_);
  bytes_in_ += bytes_in;
  bytes_out_ += bytes_out;
  for (const LaneStats& lane : lanes) {
    auto sum = std::ranges::find(lanes_, lane.name, &LaneStats::name);
    if (sum == lanes_.end()) sum = lanes_.insert(lanes_.end(), {.name = lane.name});
    sum->chunks += lane.chunks;
    sum->bytes += lane.bytes;
    sum->busy_seconds += lane.busy_seconds;
    sum->read_seconds += lane.read_seconds;
    sum->write_seconds += lane.write_seconds;
    sum->wait_seconds += lane.wait_seconds;
  }
}

void TotalStats::write(Sink& sink, const InputCounts& inputs) const {
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
  const Stats stats{.bytes_in = bytes_in_,
                    .bytes_out = bytes_out_,
                    .commitment = "",
                    .seconds = time.count(),
                    .cpu_seconds = cpu_seconds(),
                    .lanes = lanes_};
  const std::string counts = fmt::format(R"(, "files": {{"done": {}, "skipped": {}, "failed": {}}})",
                                         inputs.done, inputs.skipped, inputs.failed);
  write_and_close(sink, to_json(stats, "null", counts));
}

Report::Report(Reports reports, const Context& context)
    : reports_(std::move(reports)), messages_(context.messages) {
  if (reports_.trace) trace_.emplace(std::move(reports_.trace), context.cancel);
}

void Report::log_plan(const Ring& ring, const LanePlan& plan) const {
  messages_.detail(fmt::format("{} of {}, {} in total", counted(ring.chunks(), "buffer"),
                               describe_bytes(ring.in_bytes()), describe_bytes(ring.memory().size())));
  messages_.fine_detail(OpenSSL_version(OPENSSL_VERSION));
  const std::string lanes = to_string(plan.first);
  messages_.detail(plan.reason.empty() ? fmt::format("workers {}", lanes)
                                       : fmt::format("workers {} ({})", lanes, plan.reason));
}

void Report::finish(const OpenStream& stream, const Pipeline& pipeline, const Ring& ring,
                    const std::string& library) {
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - reports_.start;
  const Stats stats{.bytes_in = stream.header_bytes() + pipeline.bytes_in(),
                    .bytes_out = stream.bytes_out(pipeline.bytes_out()),
                    .commitment = to_hex(stream.commitment()),
                    .seconds = time.count(),
                    .cpu_seconds = cpu_seconds() - reports_.start_cpu_seconds,
                    .lanes = pipeline.lane_stats()};
  try {
    if (reports_.stats) write_and_close(*reports_.stats, to_json(stats, ring));
    if (trace_) trace_->finish();
  } catch (const IoError& error) {
    if (!stream.final_error()) throw;
    messages_.warning(error.what());
  }
  if (reports_.totals != nullptr) reports_.totals->add(stats.bytes_in, stats.bytes_out, stats.lanes);
  for (const LaneStats& lane : stats.lanes) messages_.fine_detail(summary(lane));
  if (!library.empty()) messages_.detail(fmt::format("CPU threads used {}", library));
  if (!stats.commitment.empty()) messages_.detail(fmt::format("commitment {}", stats.commitment));
  messages_.detail(headline(stream, stats));
  messages_.detail(summary(stats));
}

}  // namespace gpuaes
