// The lanes of a run: the first lanes, lanes that join them, later lanes that take over, and a fallback lane.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "lane/backends.hpp"
#include "lane/plan.hpp"
#include "pipeline/pipeline.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

class LanePool {
 public:
  // Adapts a lane to the kind of stream.
  using Wrap = std::function<std::unique_ptr<Lane>(std::unique_ptr<Lane>)>;

  // An empty `wrap` leaves lanes unchanged. `plan` and `setup` must outlive the pool.
  LanePool(const LanePlan& plan, const LaneSetup& setup, Wrap wrap);

  // Opens the plan's first lanes or, if they cannot open, those to use instead. LaneError.
  std::vector<std::unique_ptr<Lane>> open_first(const Messages& messages) const;

  std::unique_ptr<Lane> open_fallback() const;

  // Opens the plan's other lanes, if any, in a thread, which ends when it is done or asked to stop. Joining
  // lanes help the first ones as soon as they are open. Later lanes are opened when they are due, and take
  // over. If these cannot open, or turn out to be slower than the first ones, CPU lanes do the rest.
  std::jthread open_more(Pipeline& pipeline, const Messages& messages) const;

 private:
  std::vector<std::unique_ptr<Lane>> open(const std::vector<LaneSpec>& specs) const;
  std::vector<std::unique_ptr<Lane>> open_instead(const std::string& reason, const Messages& messages) const;
  void open_joining(Pipeline& pipeline, const Messages& messages, const std::stop_token& end) const;
  void try_later(Pipeline& pipeline, const Messages& messages, const std::stop_token& end) const;
  bool later_are_slower(const Pipeline& pipeline, double first, const std::stop_token& end) const;

  const LanePlan& plan_;
  const LaneSetup& setup_;
  Wrap wrap_;
};

}  // namespace gpuaes
