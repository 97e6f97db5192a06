// A lane that wraps another one, and waits or fails when a test requests it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "lane/lane.hpp"
#include "support/bytes.hpp"
#include "support/threads.hpp"

namespace gpuaes {

// How a lane behaves. The hooks run in the lane's thread and get the number of the job, counted from 0 for
// each lane. They may wait, and may throw LaneError.
struct LaneScript {
  std::size_t depth = 1;
  bool copies = false;
  std::vector<unsigned> cpus{};
  std::function<void(std::uint64_t)> on_start;
  std::function<void(std::uint64_t)> on_finish;
};

inline std::function<void(std::uint64_t)> fail_at_job(std::uint64_t number) {
  return [number](std::uint64_t job) {
    if (job == number) throw LaneError("the lane fails at job " + std::to_string(job));
  };
}

// Processes a job in finish(), like a device. The destructor overwrites the outputs of unfinished jobs, as
// late copies from a device would. This damages the result if the pipeline gives such a job to another lane
// too early, or if the output overlaps the input and the pipeline does not read the input again.
class ScriptedLane : public Lane {
 public:
  ScriptedLane(std::unique_ptr<Lane> inner, LaneScript script, const Jitter& jitter)
      : inner_(std::move(inner)), script_(std::move(script)), jitter_(jitter) {}

  ~ScriptedLane() override {
    jitter_.pause();
    for (const Job& job : under_way_) std::ranges::fill(job.out, std::byte{0xee});
  }

  std::string name() const override { return "scripted"; }
  std::size_t depth() const override { return script_.depth; }
  bool copies() const override { return script_.copies; }
  std::span<const unsigned> cpus() const override { return script_.cpus; }

  void start(const Job& job) override {
    jitter_.pause();
    if (job.in.data() == job.out.data() && job.in.size() != job.out.size() && !script_.copies)
      throw std::logic_error("the output overlaps an input of another length");
    if (under_way_.size() == script_.depth) throw std::logic_error("more jobs than the lane's depth");
    under_way_.push_back(job);
    if (script_.on_start) script_.on_start(started_);
    ++started_;
  }

  std::optional<std::size_t> finish() override {
    jitter_.pause();
    const Job& job = under_way_.at(0);
    if (script_.on_finish) script_.on_finish(finished_);
    ++finished_;
    const std::optional<std::size_t> bad_segment = script_.copies ? do_copied(job) : do_job(job);
    under_way_.pop_front();
    return bad_segment;
  }

 private:
  std::optional<std::size_t> do_job(const Job& job) {
    inner_->start(job);
    return inner_->finish();
  }

  std::optional<std::size_t> do_copied(Job job) {
    const std::span<std::byte> place = job.out;
    const Bytes in(job.in.begin(), job.in.end());
    Bytes out(place.size());
    job.in = in;
    job.out = out;
    const std::optional<std::size_t> bad_segment = do_job(job);
    std::ranges::copy(out, place.begin());
    return bad_segment;
  }

  std::unique_ptr<Lane> inner_;
  LaneScript script_;
  const Jitter& jitter_;
  std::deque<Job> under_way_;
  std::uint64_t started_ = 0;
  std::uint64_t finished_ = 0;
};

}  // namespace gpuaes
