#include "run/lane_pool.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <utility>

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
  std::vector<std::unique_ptr<Lane>> lanes = open(plan_.instead);
  messages.detail(fmt::format("workers {} are used instead: {}", to_string(plan_.instead), reason));
  return lanes;
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
  return wrap_ ? wrap_(make_cpu_lane()) : make_cpu_lane();
}

std::jthread LanePool::open_more(Pipeline& pipeline, const Messages& messages) const {
  if (plan_.joining.empty() && plan_.later.empty()) return {};
  return std::jthread([this, &pipeline, &messages](const std::stop_token& end) {
    try {
      open_joining(pipeline, messages, end);
      if (!plan_.later.empty() && await_bytes(pipeline, plan_.later_from, end))
        try_later(pipeline, messages, end);
    } catch (const std::exception& error) {
      messages.detail(fmt::format("the workers stay as they are: {}", error.what()));
    }
  });
}

// One device after another: the driver does not open several at once.
void LanePool::open_joining(Pipeline& pipeline, const Messages& messages, const std::stop_token& end) const {
  for (const LaneSpec& spec : plan_.joining) {
    if (end.stop_requested()) return;
    std::vector<std::unique_ptr<Lane>> lanes;
    try {
      lanes = open({spec});
    } catch (const LaneError& error) {
      messages.warning(fmt::format("cannot start workers {} ({}); the others do their work",
                                   to_string({spec}), error.what()));
      continue;
    }
    if (end.stop_requested()) return;
    for (std::unique_ptr<Lane>& lane : lanes) pipeline.add_lane(std::move(lane));
    messages.detail(fmt::format("workers {} join", to_string({spec})));
  }
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
  if (end.stop_requested()) return;
  const double first = start.bytes_per_second_until(Position(pipeline));
  pipeline.replace_lanes(std::move(lanes));
  messages.detail(fmt::format("workers {} take over", to_string(plan_.later)));
  if (!plan_.instead.empty() && later_are_slower(pipeline, first, end))
    pipeline.replace_lanes(open_instead("those that took over are slower", messages));
}

// The previous lanes may still fill the ring once. A time without input says nothing.
bool LanePool::later_are_slower(const Pipeline& pipeline, double first, const std::stop_token& end) const {
  if (!await_bytes(pipeline, pipeline.bytes_in() + plan_.chunks * plan_.chunk_bytes, end)) return false;
  Observed observed{.first = first,
                    .first_lanes = plan_.first.front().count.value(),
                    .all_lanes = plan_.instead.front().count.value()};
  for (int slow = 0; slow < 2;) {
    const Position start(pipeline);
    if (!await(takeover_trial, end)) return false;
    observed.later = start.bytes_per_second_until(Position(pipeline));
    if (observed.later == 0) continue;
    if (later_lanes_continue(observed)) return false;
    ++slow;
  }
  return true;
}

}  // namespace gpuaes
