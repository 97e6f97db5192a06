// For gpuaes-bench pipeline: a source that takes no time, a lane that does nothing, and a lane that measures
// another.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "io/source_sink.hpp"
#include "lane/lane.hpp"
#include "pipeline/ring.hpp"

namespace gpuaes {

// Provides `size` bytes without writing them, because that would take time. They are whatever is in the
// chunks' memory: zeros in a new ring.
class NullSource : public Source {
 public:
  // `parallel`: like a file, which lanes read in parallel; otherwise like a pipe.
  NullSource(std::uint64_t size, bool parallel) : size_(size), parallel_(parallel) {}

  std::size_t read(std::span<std::byte> out) override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - at_));
    at_ += count;
    return count;
  }
  bool ready(std::chrono::milliseconds) override { return true; }
  std::uint64_t parallel_size() const override { return parallel_ ? size_ : 0; }
  void read_at(std::uint64_t, std::span<std::byte>) const override {}
  void skip_to(std::uint64_t offset) override { at_ = offset; }

 private:
  const std::uint64_t size_;
  const bool parallel_;
  std::uint64_t at_ = 0;
};

// Does no work: a run with it takes as long as everything except the cipher.
class IdleLane : public Lane {
 public:
  std::string name() const override { return "none"; }
  void start(const Job&) override {}
  std::optional<std::size_t> finish() override { return std::nullopt; }
};

// Measures the time that a thread spends in a lane.
class TimedLane : public Lane {
 public:
  // Adds the seconds to `total` on destruction.
  TimedLane(std::unique_ptr<Lane> lane, std::atomic<double>& total) : lane_(std::move(lane)), total_(total) {}
  ~TimedLane() override { total_ += stopwatch_.seconds(); }

  std::string name() const override { return lane_->name(); }
  std::size_t depth() const override { return lane_->depth(); }
  bool copies() const override { return lane_->copies(); }
  std::span<const unsigned> cpus() const override { return lane_->cpus(); }
  std::span<const Phase> phases() const override { return lane_->phases(); }
  void start(const Job& job) override {
    stopwatch_.set(true);
    lane_->start(job);
    stopwatch_.set(false);
  }
  std::optional<std::size_t> finish() override {
    stopwatch_.set(true);
    const std::optional<std::size_t> bad = lane_->finish();
    stopwatch_.set(false);
    return bad;
  }

 private:
  std::unique_ptr<Lane> lane_;
  std::atomic<double>& total_;
  Stopwatch stopwatch_;
};

}  // namespace gpuaes
