#include "pipeline/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "cipher/secret.hpp"
#include "error.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

// How long a part-filled chunk waits for more input before it goes on its way. Input that comes slower than a chunk
// in this time does not fill any machine; faster input is not cut up.
constexpr std::chrono::milliseconds flush_after{5};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

Pipeline::~Pipeline() { stop(); }

void Pipeline::run() {
  reader_ = std::jthread([this] {
    try {
      read_loop();
    } catch (...) {
      fail(std::current_exception());
    }
  });
  try {
    write_loop();
  } catch (...) {
    fail(std::current_exception());
  }
  stop();
  if (failure_) std::rethrow_exception(failure_);
}

void Pipeline::write_loop() {
  while (Chunk* chunk = parts_.ring.front()) {
    parts_.sink.write(chunk->out());
    bytes_in_ += chunk->in_size;
    bytes_out_ += chunk->out_size;
    if (chunk->error) std::rethrow_exception(chunk->error);
    parts_.ring.release(*chunk);
  }
}

// The first failure stands. Wakes whoever waits for the ring or for a descriptor.
void Pipeline::fail(std::exception_ptr error) {
  {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(error);
  }
  parts_.ring.cancel();
  parts_.cancel.request(0);
}

void Pipeline::stop() {
  {
    std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  parts_.ring.cancel();  // nobody is left in it after a whole run
  reader_ = {};
  for (Worker& worker : workers_) worker.thread = {};
}

// The reader ---------------------------------------------------------------------------------------------------------

void Pipeline::read_loop() {
  const std::uint64_t offset = share_out();
  read_rest(offset);
}

// Cuts what lanes may read themselves into chunks of whole units. Returns where the rest begins: what is less than a
// unit, and what the file has grown since it was opened.
std::uint64_t Pipeline::share_out() {
  const std::uint64_t unit = parts_.session.unit_in();
  const std::uint64_t end = parts_.source.shared_size() / unit * unit;
  for (std::uint64_t offset = 0; offset < end;) {
    Chunk* chunk = parts_.ring.fill();
    if (chunk == nullptr) return end;
    chunk->offset = offset;
    chunk->in_size = static_cast<std::size_t>(std::min<std::uint64_t>(parts_.ring.in_bytes(), end - offset));
    chunk->lane_reads = true;
    offset += chunk->in_size;
    parts_.ring.filled(*chunk);
  }
  return end;
}

// Reads to the end of the input. A chunk is handed over when it is full, or has whole units and nothing more came
// for a while; what it has beyond them begins the next.
void Pipeline::read_rest(std::uint64_t offset) {
  const std::size_t unit = parts_.session.unit_in();
  Secret carried(unit);
  std::size_t carried_size = 0;
  if (offset > 0) parts_.source.skip_to(offset);
  for (bool ended = false; !ended;) {
    Chunk* chunk = parts_.ring.fill();
    if (chunk == nullptr) return;
    std::ranges::copy(carried.bytes().first(carried_size), chunk->in_memory.begin());
    std::size_t size = carried_size;
    try {
      const Clock::time_point start = Clock::now();
      while (size < chunk->in_memory.size()) {
        const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
        if (size >= unit && !parts_.source.ready(std::max(flush_after - waited, std::chrono::milliseconds{0}))) break;
        const std::size_t count = parts_.source.read(chunk->in_memory.subspan(size));
        if (count == 0) {
          ended = true;
          break;
        }
        size += count;
      }
    } catch (const Error&) {
      chunk->error = std::current_exception();
      ended = true;
    }
    // An error is no end: what a shorter last unit would make of it is never written.
    const std::size_t whole = ended && !chunk->error ? size : size / unit * unit;
    carried_size = size - whole;
    const std::span<std::byte> beyond = chunk->in_memory.subspan(whole, carried_size);
    std::ranges::copy(beyond, carried.bytes().begin());
    wipe(beyond);  // the ring wipes what a chunk says it holds
    chunk->offset = offset;
    chunk->in_size = whole;
    offset += whole;
    parts_.ring.filled(*chunk);
  }
  parts_.ring.close();
}

// Lanes --------------------------------------------------------------------------------------------------------------

void Pipeline::add_lane(std::unique_ptr<Lane> lane) {
  std::lock_guard lock(mutex_);
  if (stopped_) return;
  Worker& worker = workers_.emplace_back();
  worker.stats.name = lane->name();
  worker.thread = std::jthread([this, &worker, lane = std::move(lane)]() mutable {
    try {
      work(worker, std::move(lane));
    } catch (...) {
      fail(std::current_exception());
    }
  });
  ++working_;  // not before: where no thread can be made, nobody may wait for this one to take over
}

void Pipeline::dismiss_lanes() {
  std::lock_guard lock(mutex_);
  for (Worker& worker : workers_) worker.dismissed = true;
}

void Pipeline::work(Worker& worker, std::unique_ptr<Lane> lane) {
  while (lane) {
    std::deque<Chunk*> under_way;
    try {
      do {
        do_jobs(worker, *lane, under_way);
      } while (worker.dismissed && !leave(worker));
      return;
    } catch (const LaneError& error) {
      lane.reset();  // from here on nothing of it can write into its chunks
      lane = replace_lane(worker, error);
      for (Chunk* chunk : under_way) parts_.ring.give_back(*chunk);
    }
  }
}

// Does jobs until there are no more or the worker is dismissed. What is `under_way` has been taken and is not done.
void Pipeline::do_jobs(Worker& worker, Lane& lane, std::deque<Chunk*>& under_way) {
  for (;;) {
    while (under_way.size() < lane.depth() && !worker.dismissed) {
      Chunk* chunk = under_way.empty() ? parts_.ring.take() : parts_.ring.try_take();
      if (chunk == nullptr) break;
      if (under_way.empty()) worker.busy_since = Clock::now();
      under_way.push_back(chunk);
      load(*chunk);
      lane.start(parts_.session.job({chunk->offset, chunk->in(), chunk->out()}));
    }
    if (under_way.empty()) return;
    lane.finish();
    worker.stats.chunks += under_way.front()->in_size > 0;
    worker.stats.bytes += under_way.front()->in_size;
    parts_.ring.done(*under_way.front());
    under_way.pop_front();
    if (under_way.empty()) worker.stats.busy_seconds += seconds_since(worker.busy_since);
  }
}

// Makes the chunk's input present, and its output as large as it will be. Done once, so that a lane which does the
// chunk again has the same bytes.
void Pipeline::load(Chunk& chunk) {
  if (chunk.lane_reads) {
    try {
      parts_.source.read_at(chunk.offset, chunk.in());
    } catch (const Error&) {
      chunk.error = std::current_exception();
      chunk.in_size = 0;
    }
    chunk.lane_reads = false;
  }
  chunk.out_size = parts_.session.output_size(chunk.in_size);
}

// False where the worker is the last one and has to stay after all.
bool Pipeline::leave(Worker& worker) {
  std::lock_guard lock(mutex_);
  worker.dismissed = false;
  if (working_ == 1) return false;
  --working_;
  return true;
}

// The lane with which the thread of a failed one goes on; none where others are left.
std::unique_ptr<Lane> Pipeline::replace_lane(Worker& worker, const LaneError& error) {
  bool last;
  {
    std::lock_guard lock(mutex_);
    last = working_ == 1;
    if (!last) --working_;
    if (last && (spare_used_ || !parts_.spare_lane)) throw;  // the LaneError, which now is the program's
    spare_used_ = spare_used_ || last;
  }
  parts_.warn(fmt::format("lane {} gave up, others do its work: {}", worker.stats.name, error.what()));
  return last ? parts_.spare_lane() : nullptr;
}

std::vector<LaneStats> Pipeline::lane_stats() const {
  std::lock_guard lock(mutex_);
  std::vector<LaneStats> stats;
  for (const Worker& worker : workers_) stats.push_back(worker.stats);
  return stats;
}

}  // namespace gpuaes
