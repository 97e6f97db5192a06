// The engine: lanes, each on a thread of its own, take chunks round the ring. Whichever lane is free reads
// the next piece of the input, does the cipher work, and writes what is next in the stream
// (pipeline/ring.hpp).
//
// The first lane runs on the thread that calls run(); each other one gets its thread when somebody has filled
// a chunk and there is more to come. So an input of one chunk starts no thread, which would take longer than
// the work on it.
//
// Errors of the data (input that cannot be read, a wrong tag) travel in their chunk and are thrown when it is
// written: what was written before an error, and the error, are the same every time. Output that is not to be
// released is wiped as soon as its lane is done. Errors of a lane lose nothing: its chunks go back to the
// ring for the others.
//
// Of regular files and block devices the reader's turn is only the choice of the next range: lanes read them
// in parallel, each its own chunk, and put the output in the place of the input where both are of one size,
// or the lane works on copies anyway: less memory for caches to hold (and to pin) makes 45 instead of 38 GB/s
// of one H200. A lane that does such a chunk again reads it again; nothing that the first one made of it was
// ever written.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "format/format.hpp"
#include "io/cancel.hpp"
#include "io/source_sink.hpp"
#include "lane/lane.hpp"
#include "pipeline/ring.hpp"
#include "pipeline/trace.hpp"

namespace gpuaes {

using LaneFactory = std::function<std::unique_ptr<Lane>()>;

// What one lane did.
struct LaneStats {
  std::string name;
  std::uint64_t chunks = 0;  // without the empty one that may end a stream
  std::uint64_t bytes = 0;   // of input
  double busy_seconds = 0;   // with a chunk or more in hand
  double read_seconds = 0;   // in reading its chunks, also while the input lets it wait
  double write_seconds = 0;  // in writing chunks, also while the output lets it wait
  double wait_seconds = 0;   // in the ring, with nothing to do
};

struct PipelineParts {
  Ring& ring;
  Source& source;
  Sink& sink;
  const Session& session;
  Cancel& cancel;
  LaneFactory fallback_lane;                     // made when the last lane failed; may be empty
  std::function<void(const std::string&)> warn;  // called by any lane's thread
  Trace* trace = nullptr;                        // where the timeline goes, if anywhere
};

class Pipeline {
 public:
  explicit Pipeline(PipelineParts parts);
  ~Pipeline();  // stops and joins all threads

  // A lane for the run. From any thread, before or during run(); during it the lane starts at once.
  void add_lane(std::unique_ptr<Lane> lane);

  // These lanes take over: the ones that are there end after the jobs they are at.
  void replace_lanes(std::vector<std::unique_ptr<Lane>> lanes);

  // Moves the stream from source to sink; returns when all of it has been written. Throws the first error in
  // stream order, or Cancelled. Not to be called twice.
  void run();

  std::uint64_t bytes_in() const noexcept { return bytes_in_; }  // so far; from any thread
  std::uint64_t bytes_out() const noexcept { return bytes_out_; }
  std::vector<std::string> lanes_at_work() const;  // the names of those that have not left; from any thread
  std::vector<LaneStats> lane_stats() const;       // complete once run() has returned or thrown

 private:
  // What a thread drives a lane with.
  struct Worker {
    LaneStats stats;
    LaneTracks tracks;
    std::unique_ptr<Lane> lane;
    Waiter waiter;
    std::chrono::steady_clock::time_point busy_since;
    std::atomic<bool> dismissed{false};
    bool left = false;    // under the pipeline's mutex
    std::jthread thread;  // none where one that there is drives it
  };
  using Chunks = std::deque<Chunk*>;

  void add_locked(std::unique_ptr<Lane> lane);
  void start(Worker& worker);
  void start_next();
  Worker* next_locked();
  void drive(Worker* worker);
  void work(Worker& worker);
  void do_jobs(Worker& worker, Chunks& under_way);
  Ring::Task take(Worker& worker, Ring::TakeOptions options);
  void start_job(Worker& worker, Chunk& chunk, Chunks& under_way);
  void finish_job(Worker& worker, Chunks& under_way);
  std::optional<std::size_t> await(Worker& worker, const Chunk& chunk);
  void release_verified(Chunk& chunk, std::optional<std::size_t> bad_segment);
  bool leave(Worker& worker);
  void give_up(Worker& worker, const LaneError& error);

  bool fill(Worker& worker, Chunk& chunk, bool wait);
  bool read_units(Chunk& chunk, bool wait);
  void load(Worker& worker, Chunk& chunk);
  void read_range(Chunk& chunk);
  void write(Worker& worker, Chunk& chunk);
  void fail(std::exception_ptr error);
  void stop();

  PipelineParts parts_;

  // Of whoever has the reader's turn.
  const std::uint64_t shared_end_;  // up to here lanes read for themselves
  bool behind_shared_;              // whether read() goes on there
  std::uint64_t offset_;            // of what is to be read next
  Secret carried_;                  // input beyond the last chunk's whole units
  std::size_t carried_size_ = 0;

  // Of whoever has the writer's turn.
  std::atomic<std::uint64_t> bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;

  mutable std::mutex mutex_;  // for what follows
  std::exception_ptr failure_;
  bool running_ = false;
  bool stopped_ = false;
  std::list<Worker> workers_;
  std::deque<Worker*> undriven_;  // those that no thread has begun with
  std::atomic<bool> undriven_left_{false};
  std::size_t working_ = 0;  // workers that have not left; the last one never leaves
  bool fallback_used_ = false;
};

}  // namespace gpuaes
