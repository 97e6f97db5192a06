#include "run/report.hpp"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "run/lane_pool.hpp"

namespace gpuaes {
namespace {

std::string describe_bytes(std::size_t bytes) {
  if (bytes >= 10 << 20 || bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 10 << 10 || bytes % (1 << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

RingStats ring_stats(const Ring& ring) {
  const auto [reader, writer] = ring.waits();
  return {ring.chunks(), std::min(ring.in_bytes(), ring.out_bytes()), reader, writer};
}

}  // namespace

Report::Report(Start start, std::unique_ptr<Sink> stats, std::unique_ptr<Sink> trace,
               const Messages& messages, Cancel& cancel)
    : start_(start), stats_(std::move(stats)), messages_(messages) {
  if (trace) trace_.emplace(std::move(trace), cancel);
}

void Report::log_ring(const Ring& ring) const {
  messages_.detail(fmt::format("ring of {} of {}, {} in total", counted(ring.chunks(), "chunk"),
                               describe_bytes(ring.in_bytes()), describe_bytes(ring.memory().size())));
}

void Report::log_lanes(const LanePlan& plan) const {
  messages_.fine_detail(OpenSSL_version(OPENSSL_VERSION));
  const std::string lanes = describe_specs(plan.first);
  messages_.detail(plan.reason.empty() ? fmt::format("lanes {}", lanes)
                                       : fmt::format("lanes {} ({})", lanes, plan.reason));
}

void Report::finish(const OpenStream& stream, const Pipeline& pipeline, const Ring& ring) {
  const Start end;
  const Stats stats{.bytes_in = stream.header_bytes() + pipeline.bytes_in(),
                    .bytes_out = stream.bytes_out(pipeline.bytes_out()),
                    .commitment = to_hex(stream.commitment()),
                    .seconds = std::chrono::duration<double>(end.time - start_.time).count(),
                    .cpu_seconds = end.cpu_seconds - start_.cpu_seconds,
                    .lanes = pipeline.lane_stats(),
                    .ring = ring_stats(ring)};
  try {
    write(stats);
  } catch (const IoError& error) {
    if (!stream.final_error()) throw;
    messages_.warning(error.what());
  }
  for (const LaneStats& lane : stats.lanes) messages_.fine_detail(summary(lane));
  if (!stats.commitment.empty()) messages_.detail(fmt::format("commitment {}", stats.commitment));
  messages_.detail(summary(stats));
}

void Report::write(const Stats& stats) {
  if (stats_) {
    const std::string json = to_json(stats);
    stats_->write(std::as_bytes(std::span(json)));
    stats_->finish();
  }
  if (trace_) trace_->finish();
}

}  // namespace gpuaes
