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

// Waits until `bytes` of input have been processed. Returns false if the run ends first.
bool await_bytes(const Pipeline& pipeline, std::uint64_t bytes, const std::stop_token& end) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any called;
  while (pipeline.bytes_in() < bytes && !end.stop_requested())
    called.wait_for(lock, end, std::chrono::milliseconds(20), [] { return false; });
  return !end.stop_requested();
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

std::vector<std::unique_ptr<Lane>> LanePool::open_first(const Messages& messages) const {
  try {
    return open(plan_.first);
  } catch (const LaneError& error) {
    if (plan_.instead.empty()) throw;
    messages.detail(
        fmt::format("lanes {} are used instead: {}", describe_specs(plan_.instead), error.what()));
    return open(plan_.instead);
  }
}

std::unique_ptr<Lane> LanePool::open_fallback() const {
  return std::move(open({{Backend::cpu, {}, {}}}).front());
}

std::jthread LanePool::take_over(Pipeline& pipeline, const Messages& messages) const {
  if (plan_.later.empty()) return {};
  return std::jthread([this, &pipeline, &messages](const std::stop_token& end) {
    if (plan_.later_from > 0 && !await_bytes(pipeline, plan_.later_from, end)) return;
    try {
      pipeline.replace_lanes(open(plan_.later));
      messages.detail(fmt::format("lanes {} take over", describe_specs(plan_.later)));
    } catch (const std::exception& error) {
      messages.detail(
          fmt::format("the first lanes continue; the later ones could not be opened: {}", error.what()));
    }
  });
}

std::string describe_specs(const std::vector<LaneSpec>& specs) {
  std::string text;
  for (const LaneSpec& spec : specs) text.append(text.empty() ? "" : "+").append(to_string(spec));
  return text;
}

}  // namespace gpuaes
