// The lanes of a run: those that it begins with, those that take over, and a fallback lane.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/messages.hpp"
#include "lane/backends.hpp"
#include "lane/plan.hpp"
#include "pipeline/pipeline.hpp"

namespace gpuaes {

class LanePool {
 public:
  // Makes of a lane what is to do its work.
  using Wrap = std::function<std::unique_ptr<Lane>(std::unique_ptr<Lane>)>;

  // `wrap` may be empty: lanes do their own work.
  LanePool(const LanePlan& plan, const LaneSetup& setup, Wrap wrap);

  std::vector<std::unique_ptr<Lane>> open_first() const;  // LaneError
  std::unique_ptr<Lane> open_fallback() const;

  // Opens the plan's later lanes, if it has some, when it is time, and they take over. Where they cannot open
  // the first ones go on: nobody asked for these by name. The thread ends when it is asked to, or is done.
  std::jthread take_over(Pipeline& pipeline, const Messages& messages) const;

 private:
  std::vector<std::unique_ptr<Lane>> open(const std::vector<LaneSpec>& specs) const;

  const LanePlan& plan_;
  const LaneSetup& setup_;
  Wrap wrap_;
};

// As -l takes them.
std::string describe(const std::vector<LaneSpec>& specs);

}  // namespace gpuaes
