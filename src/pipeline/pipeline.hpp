// The engine: one reader fills the ring, lanes do the chunks, the caller's thread writes them in order.
//
// Errors of the data (input that cannot be read, later a bad tag) travel in their chunk, and the writer throws them
// when it comes to that chunk: what was written before an error, and the error, are the same every time. Errors of a
// lane lose nothing: its chunks go back to the ring for the others.
//
// Regular files and block devices are not read by the reader: it cuts them into chunks that say where they lie, and
// the lanes read them in parallel.
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
#include <string>
#include <thread>
#include <vector>

#include "format/format.hpp"
#include "io/cancel.hpp"
#include "io/source_sink.hpp"
#include "lane/lane.hpp"
#include "pipeline/ring.hpp"

namespace gpuaes {

using LaneFactory = std::function<std::unique_ptr<Lane>()>;

// What one lane did.
struct LaneStats {
  std::string name;
  std::uint64_t chunks = 0;      // without the empty one that may end a stream
  std::uint64_t bytes = 0;       // of input
  double busy_seconds = 0;       // not waiting for a chunk
};

struct PipelineParts {
  Ring& ring;
  Source& source;
  Sink& sink;
  const Session& session;
  Cancel& cancel;
  LaneFactory spare_lane;                         // made when the last lane failed; may be empty
  std::function<void(const std::string&)> warn;  // called by any lane's thread
};

class Pipeline {
 public:
  explicit Pipeline(PipelineParts parts) : parts_(std::move(parts)) {}
  ~Pipeline();  // stops and joins all threads

  // A lane starts to work at once. From any thread, before or during run().
  void add_lane(std::unique_ptr<Lane> lane);

  // The lanes that are there now end after the job they are at. Others must have been added, or be added now.
  void dismiss_lanes();

  // Moves the stream from source to sink; returns when all of it has been written. Throws the first error in stream
  // order, or Cancelled. Not to be called twice.
  void run();

  std::uint64_t bytes_in() const noexcept { return bytes_in_; }
  std::uint64_t bytes_out() const noexcept { return bytes_out_; }
  std::vector<LaneStats> lane_stats() const;  // complete once run() has returned or thrown

 private:
  // A thread that drives a lane, and after that lane's failure perhaps another.
  struct Worker {
    LaneStats stats;
    std::chrono::steady_clock::time_point busy_since;
    std::atomic<bool> dismissed{false};
    std::jthread thread;
  };

  void read_loop();
  std::uint64_t share_out();
  void read_rest(std::uint64_t offset);

  void work(Worker& worker, std::unique_ptr<Lane> lane);
  void do_jobs(Worker& worker, Lane& lane, std::deque<Chunk*>& under_way);
  void load(Chunk& chunk);
  bool leave(Worker& worker);
  std::unique_ptr<Lane> replace_lane(Worker& worker, const LaneError& error);

  void write_loop();
  void fail(std::exception_ptr error);
  void stop();

  PipelineParts parts_;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;

  mutable std::mutex mutex_;  // for what follows, up to the reader
  std::exception_ptr failure_;
  bool stopped_ = false;
  std::list<Worker> workers_;
  std::size_t working_ = 0;  // threads of workers that have not left; the last one never leaves
  bool spare_used_ = false;

  std::jthread reader_;
};

}  // namespace gpuaes
