#include "run/lane_pool.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <utility>

#include "lane/auto_lanes.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Waits. Returns false if the run ends first.
bool await(milliseconds time, const std::stop_token& end) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any called;
  called.wait_for(lock, end, time, [] { return false; });
  return !end.stop_requested();
}

bool await_bytes(const Pipeline& pipeline, std::uint64_t bytes, const std::stop_token& end) {
  while (pipeline.bytes_in() < bytes)
    if (!await(milliseconds(10), end)) return false;
  return !end.stop_requested();
}

// How far a run was at some time.
struct Position {
  explicit Position(const Pipeline& pipeline) : bytes(pipeline.bytes_in()) {}
  double bytes_per_second_until(const Position& later) const {
    return static_cast<double>(later.bytes - bytes) /
           std::chrono::duration<double>(later.time - time).count();
  }

  std::uint64_t bytes;
  Clock::time_point time = Clock::now();
};

unsigned count(const std::vector<LaneSpec>& specs) {
  unsigned sum = 0;
  for (const LaneSpec& spec : specs) sum += spec.count.value_or(1);
  return sum;
}

}  // namespace

LanePool::LanePool(const LanePlan& plan, const LaneSetup& setup, Wrap wrap)
    : plan_(plan), setup_(setup), wrap_(std::move(wrap)) {}

std::vector<std::unique_ptr<Lane>> LanePool::open(const std::vector<LaneSpec>& specs) const {
  std::vector<std::unique_ptr<Lane>> lanes = open_lanes(specs, setup_);
  if (wrap_)
    for (std::unique_ptr<Lane>& lane : lanes) lane = wrap_(std::move(lane));
  return lanes;
}

std::vector<std::unique_ptr<Lane>> LanePool::open_instead(const std::string& reason,
                                                          const Messages& messages) const {
  messages.detail(fmt::format("lanes {} are used instead: {}", describe_specs(plan_.instead), reason));
  return open(plan_.instead);
}

std::vector<std::unique_ptr<Lane>> LanePool::open_first(const Messages& messages) const {
  try {
    return open(plan_.first);
  } catch (const LaneError& error) {
    if (plan_.instead.empty()) throw;
    return open_instead(error.what(), messages);
  }
}

std::unique_ptr<Lane> LanePool::open_fallback() const {
  return std::move(open({{Backend::cpu, {}, {}}}).front());
}

std::jthread LanePool::take_over(Pipeline& pipeline, const Messages& messages) const {
  if (plan_.later.empty()) return {};
  return std::jthread([this, &pipeline, &messages](const std::stop_token& end) {
    try {
      if (await_bytes(pipeline, plan_.later_from, end)) try_later(pipeline, messages, end);
    } catch (const std::exception& error) {
      messages.detail(fmt::format("the first lanes continue: {}", error.what()));
    }
  });
}

void LanePool::try_later(Pipeline& pipeline, const Messages& messages, const std::stop_token& end) const {
  const Position start(pipeline);
  std::vector<std::unique_ptr<Lane>> lanes;
  try {
    lanes = open(plan_.later);
  } catch (const LaneError& error) {
    if (plan_.instead.empty()) throw;
    return pipeline.replace_lanes(open_instead(error.what(), messages));
  }
  // That of all CPU lanes, estimated from those that ran.
  const double cpu =
      start.bytes_per_second_until(Position(pipeline)) * count(plan_.instead) / count(plan_.first);
  pipeline.replace_lanes(std::move(lanes));
  messages.detail(fmt::format("lanes {} take over", describe_specs(plan_.later)));
  if (plan_.instead.empty()) return;
  const std::optional<double> cuda = observe(pipeline, end);
  if (!cuda || cuda_continues({.cpu = cpu, .cuda = *cuda})) return;
  const std::string reason =
      fmt::format("CUDA lanes do {:.2f} GB/s, and CPU lanes did {:.2f}", *cuda / 1e9, cpu / 1e9);
  pipeline.replace_lanes(open_instead(reason, messages));
}

// Bytes per second once all chunks have been used, which the previous lanes may still have filled. None if
// the run ends first.
std::optional<double> LanePool::observe(const Pipeline& pipeline, const std::stop_token& end) const {
  if (!await_bytes(pipeline, pipeline.bytes_in() + plan_.chunks * plan_.chunk_bytes, end))
    return std::nullopt;
  const Position start(pipeline);
  if (!await(milliseconds(100), end)) return std::nullopt;
  return start.bytes_per_second_until(Position(pipeline));
}

std::string describe_specs(const std::vector<LaneSpec>& specs) {
  std::string text;
  for (const LaneSpec& spec : specs) text.append(text.empty() ? "" : "+").append(to_string(spec));
  return text;
}

}  // namespace gpuaes
