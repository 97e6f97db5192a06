// What the pipeline is measured with in place of what it works between: ends that cost nothing, a lane that
// does nothing, and one that tells how long another one took.
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

namespace gpuaes {

// `size` bytes, which are what the chunk's memory happens to hold: zeros at first, since that is how the
// memory of a ring begins. Writing them there would be measured too.
class FreeSource : public Source {
 public:
  // `shared`: as a file, which lanes read for themselves; else as a pipe.
  FreeSource(std::uint64_t size, bool shared) : size_(size), shared_(shared) {}

  std::size_t read(std::span<std::byte> out) override {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - at_));
    at_ += count;
    return count;
  }
  bool ready(std::chrono::milliseconds) override { return true; }
  std::uint64_t shared_size() const override { return shared_ ? size_ : 0; }
  void read_at(std::uint64_t, std::span<std::byte>) const override {}
  void skip_to(std::uint64_t offset) override { at_ = offset; }

 private:
  const std::uint64_t size_;
  const bool shared_;
  std::uint64_t at_ = 0;
};

// Leaves its jobs' output as it is: what a run takes with it, it takes beside all cipher work.
class IdleLane : public Lane {
 public:
  std::string name() const override { return "none"; }
  void start(const Job&) override {}
  std::optional<std::size_t> finish() override { return std::nullopt; }
};

// A lane, with a clock for the time that its thread spends in it.
class TimedLane : public Lane {
 public:
  using Nanoseconds = std::atomic<std::int64_t>;

  // Adds to `total` when it goes.
  TimedLane(std::unique_ptr<Lane> lane, Nanoseconds& total) : lane_(std::move(lane)), total_(total) {}
  ~TimedLane() override { total_ += std::chrono::nanoseconds(spent_).count(); }

  std::string name() const override { return lane_->name(); }
  std::size_t depth() const override { return lane_->depth(); }
  bool copies() const override { return lane_->copies(); }
  std::span<const Phase> phases() const override { return lane_->phases(); }
  void start(const Job& job) override {
    const Spell spell(spent_);
    lane_->start(job);
  }
  std::optional<std::size_t> finish() override {
    const Spell spell(spent_);
    return lane_->finish();
  }

 private:
  using Clock = std::chrono::steady_clock;

  class Spell {
   public:
    explicit Spell(Clock::duration& total) : total_(total) {}
    ~Spell() { total_ += Clock::now() - begin_; }
    Spell(const Spell&) = delete;
    Spell& operator=(const Spell&) = delete;

   private:
    Clock::duration& total_;
    const Clock::time_point begin_ = Clock::now();
  };

  std::unique_ptr<Lane> lane_;
  Nanoseconds& total_;
  Clock::duration spent_{};
};

}  // namespace gpuaes
