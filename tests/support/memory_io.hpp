// A source and a sink in memory that fail or wait at offsets that a test chooses.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "io/cancel.hpp"
#include "io/source_sink.hpp"
#include "support/bytes.hpp"
#include "support/threads.hpp"

namespace gpuaes {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

// How a source behaves.
struct SourceScript {
  std::size_t read_size = std::numeric_limits<std::size_t>::max();  // maximum number of bytes per read
  std::uint64_t parallel = 0;                                       // bytes that lanes may read themselves
  std::uint64_t fail_at = never;   // bytes from this offset on cannot be read
  std::uint64_t stall_at = never;  // reads wait at this offset until canceled
  bool sometimes_late = false;     // ready() sometimes returns false, so chunks are only partly filled
};

class MemorySource : public Source {
 public:
  MemorySource(Bytes bytes, SourceScript script, Cancel& cancel, const Jitter& jitter)
      : bytes_(std::move(bytes)), script_(script), cancel_(cancel), jitter_(jitter) {}

  std::size_t read(std::span<std::byte> out) override {
    const OneAtATime::Inside inside(turn_);
    jitter_.pause();
    if (position_ >= script_.fail_at) throw error(position_);
    while (position_ >= script_.stall_at) {
      stalled_ = true;
      cancel_.check();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const std::uint64_t end = std::min<std::uint64_t>({bytes_.size(), script_.fail_at, script_.stall_at});
    const std::size_t count = std::min<std::size_t>({out.size(), script_.read_size, end - position_});
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(position_), count, out.begin());
    position_ += count;
    return count;
  }

  bool ready(std::chrono::milliseconds patience) override {
    const OneAtATime::Inside inside(turn_);
    if (script_.sometimes_late && jitter_.random() % 4 == 0) return false;
    if (position_ < script_.stall_at) return true;
    std::this_thread::sleep_for(patience);
    return false;
  }

  std::uint64_t parallel_size() const override { return script_.parallel; }

  void read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    jitter_.pause();
    {
      const std::lock_guard lock(mutex_);
      offsets_read_.push_back(offset);
    }
    if (offset + out.size() > script_.fail_at) throw error(script_.fail_at);
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }

  std::size_t place_in_page(std::uint64_t offset) const override { return offset % 4096; }

  void skip_to(std::uint64_t offset) override {
    const OneAtATime::Inside inside(turn_);
    position_ = offset;
  }

  // The number of calls of read_at() for `offset`. Any thread may call this.
  std::size_t read_times(std::uint64_t offset) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::ranges::count(offsets_read_, offset));
  }

  // Whether a thread waits in read() at stall_at. Any thread may call this.
  bool stalled() const { return stalled_; }

 private:
  static IoError error(std::uint64_t at) { return IoError("the source fails at byte " + std::to_string(at)); }

  Bytes bytes_;
  SourceScript script_;
  Cancel& cancel_;
  const Jitter& jitter_;
  OneAtATime turn_{"the source"};
  std::uint64_t position_ = 0;
  std::atomic<bool> stalled_ = false;
  mutable std::mutex mutex_;
  mutable std::vector<std::uint64_t> offsets_read_;  // by read_at(), in any order
};

// How a sink behaves.
struct SinkScript {
  std::uint64_t fail_at = never;       // takes the bytes before this offset, then fails
  std::uint64_t wait_at = never;       // a write that begins here or later waits until canceled
  std::optional<std::size_t> place{};  // where in a page the memory of the first byte should be
};

class MemorySink : public Sink {
 public:
  MemorySink(SinkScript script, Cancel& cancel, const Jitter& jitter)
      : script_(script), cancel_(cancel), jitter_(jitter) {}

  std::optional<std::size_t> place_in_page() const override { return script_.place; }

  void write(std::span<const std::byte> bytes) override {
    const OneAtATime::Inside inside(turn_);
    jitter_.pause();
    const std::size_t place = reinterpret_cast<std::uintptr_t>(bytes.data()) % 4096;
    misplaced_ += !bytes.empty() && place != (script_.place.value_or(0) + bytes_.size()) % 4096;
    while (bytes_.size() >= script_.wait_at) {
      waits_ = true;
      cancel_.check();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const std::size_t count = std::min<std::size_t>(bytes.size(), script_.fail_at - bytes_.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count));
    size_ = bytes_.size();
    if (count < bytes.size()) throw IoError("the sink fails at byte " + std::to_string(script_.fail_at));
  }
  void finish() override {}

  const Bytes& bytes() const { return bytes_; }
  std::size_t size() const { return size_; }    // from any thread
  int misplaced() const { return misplaced_; }  // writes whose memory was not where it should be
  bool waits() const { return waits_; }         // whether a thread waits in write(); from any thread

 private:
  OneAtATime turn_{"the sink"};
  Bytes bytes_;
  std::atomic<std::size_t> size_ = 0;
  int misplaced_ = 0;
  std::atomic<bool> waits_ = false;
  SinkScript script_;
  Cancel& cancel_;
  const Jitter& jitter_;
};

}  // namespace gpuaes
