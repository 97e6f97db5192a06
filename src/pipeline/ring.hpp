// The ring is the scheduler: a fixed set of chunks, and two turns, one to read and one to write, each held by
// one lane at a time. A free lane asks for its next task: to write the next chunk of the stream, or to fill
// an empty chunk. After filling it, the lane gives up the reader's turn and does the cipher work. A chunk of
// a file needs no reader's turn (set_parallel()): each lane reads its own.
//
// A chunk is written by the lane that processed it if that lane is waiting for a task. With few chunks, each
// stays with one thread and in that core's cache from reading to writing. Separate threads for reading and
// writing were slower: all data moved between caches twice, and each step woke another thread. With more
// chunks than lanes, no lane waits for a slower one.
//
// Chunks that lanes read by themselves are written by any free lane. Waking the lane that processed the chunk
// was slower, because one slow lane then led to a wakeup for every chunk.
//
// A wakeup takes longer than most tasks, so at most one lane that was woken to start a chunk is on its way.
// When it runs, it takes a task, and wakes the next lane if another chunk can be started. Meanwhile, lanes
// that are awake take the work. So if a chunk can be started and a lane is asleep, another one has been woken
// and is on its way.
//
// Chunk N of the stream is entry N modulo the size of the ring, so keeping order needs no map, and a full
// ring is the only backpressure. Reusing the most recently written chunk first was slower, because its memory
// is in the cache of another core.
//
// There is one mutex. One call ends a task and takes the next, so a lane locks it twice per chunk, and once
// more if it fills the chunk in the reader's turn.
//
// tests/models/ring.pml is a model of the ring, of Workers and of Pipeline.
//
// Only the thread that holds a chunk accesses its contents, and only the thread that has the turn reads or
// writes.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "format/format.hpp"
#include "io/source_sink.hpp"
#include "lane/backends.hpp"
#include "lane/plan.hpp"

namespace gpuaes {

// Measures the total time for which a condition has held.
class Stopwatch {
 public:
  // Sets whether it holds from now on. Reads the clock only if that changes.
  void set(bool running) {
    if (running == running_) return;
    const auto now = std::chrono::steady_clock::now();
    if (running_) total_ += now - since_;
    since_ = now;
    running_ = running;
  }

  // Up to the last change.
  double seconds() const { return std::chrono::duration<double>(total_).count(); }

 private:
  bool running_ = false;
  std::chrono::steady_clock::time_point since_;
  std::chrono::steady_clock::duration total_{};
};

// Where a lane waits for its next task. Must outlive all calls of other lanes to the ring: one may notify it
// after its own take() has returned.
class Waiter {
 public:
  bool asleep() const { return asleep_ != 0; }  // the ring has put it to sleep, and will wake it
  double waited_seconds() const { return waited_.seconds(); }  // for the thread that waits here

 private:
  friend class Ring;
  std::atomic<int> asleep_ =
      0;                   // set under the ring's mutex; threads wait for an int, not for a bool, directly
  bool to_write_ = false;  // woken to write the next chunk in the stream
  Stopwatch waited_;
};

struct Chunk {
  std::span<std::byte> in_memory;        // whole units of the session
  std::span<std::byte> out_memory;       // for their output; does not overlap in_memory
  std::span<std::byte> in_place_memory;  // starts where in_memory does and is large enough for the output

  std::uint64_t number = 0;   // in the stream, from 0
  std::uint64_t offset = 0;   // of its first byte in the stream
  std::size_t in_size = 0;    // bytes of input
  std::size_t out_size = 0;   // bytes of output; once done, only what may be written
  bool last = false;          // the last chunk of the stream
  bool ends_message = false;  // its last unit is the last one of a message, and may be shorter
  bool in_source = false;     // the input can be read again from the source, with read_at()
  bool in_place = false;      // the output overwrites the input
  std::exception_ptr error;   // thrown by the writer after this chunk's output

  // How many bytes of its memory were ever used and must be wiped. Updated by the thread that holds the
  // chunk.
  std::size_t in_touched = 0;
  std::size_t out_touched = 0;

  std::span<std::byte> in() const { return in_memory.first(in_size); }
  std::span<std::byte> out() const { return (in_place ? in_place_memory : out_memory).first(out_size); }

 private:
  friend class Ring;
  std::span<std::byte> memory_;    // for the input, a page more than its size
  std::span<std::byte> out_room_;  // for out_memory, a page more than its size
};

class Ring {
 public:
  // `chunks` (at least 1) of `in_bytes` and `out_bytes` each, in one mapping. Memory is allocated when first
  // used, in huge pages if requested and possible. IoError if the system refuses the mapping.
  Ring(std::size_t chunks, std::size_t in_bytes, std::size_t out_bytes, bool huge_pages = false);
  ~Ring();  // wipes the memory that was used
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  std::size_t chunks() const noexcept { return chunks_.size(); }
  std::size_t in_bytes() const noexcept { return in_bytes_; }
  std::size_t out_bytes() const noexcept { return out_bytes_; }
  std::span<std::byte> memory() const noexcept { return memory_; }  // of inputs, then of outputs
  // The memory of inputs, and of outputs that overwrite them.
  std::span<std::byte> in_memory() const noexcept { return memory_.first(in_all_); }

  // The first `size` bytes of the stream can be read from the source with read_at(), so their chunks do not
  // need the reader's turn. Call this before the first take().
  void set_parallel(Source& source, std::uint64_t size) {
    source_ = &source;
    parallel_size_ = size;
  }

  struct Task {
    enum class Kind {
      none,
      fill,   // fill the empty chunk, which is the reader's turn, then process it
      work,   // process the chunk, whose input is in the source or which was given back
      write,  // write the finished chunk, which is the writer's turn
    };
    Kind kind = Kind::none;
    Chunk* chunk = nullptr;
  };

  // Which kinds of task the caller takes, and whether it waits for one.
  struct TakeOptions {
    bool start;  // also chunks to fill or process; otherwise only chunks to write
    bool wait;   // only with `start`; otherwise returns immediately
  };

  // Ends the task `ended`, if any, and returns the next one. Ending a task to write makes its chunk empty;
  // ending any other means that the chunk's output or error is ready. The caller no longer holds it. With
  // `wait`, the next task is `none` only after all chunks are done. After cancel(), it is always `none`.
  // Until then, the caller must keep calling, because the ring does not wake others for what it could do.
  Task take(Waiter& waiter, TakeOptions options, Task ended);

  // The same, but returns nothing instead of waiting. The caller must then ask again when its waiter is no
  // longer asleep().
  std::optional<Task> try_take(Waiter& waiter, TakeOptions options, Task ended);

  // These end the reader's turn. filled(): the caller holds the chunk, which is the next of the stream and,
  // if `closed`, the last. unfilled(): there was no input, and the chunk is still empty.
  void filled(Chunk& chunk, bool closed);
  void unfilled(Chunk& chunk);

  // Sets where in a page the chunk's out_memory begins. The caller holds the chunk.
  void place_output(Chunk& chunk, std::size_t begin) const;

  // Another lane has to process the chunk. The caller no longer holds it.
  void give_back(Chunk& chunk);

  // No more tasks from now on.
  void cancel();

  // Returns once everything is written, or after cancel().
  void wait_for_end();

  // From the first take() to the last change of state; complete after the run.
  struct Waits {
    double reader_seconds;  // waiting for a chunk to be written before another can be filled
    double writer_seconds;  // waiting for the next chunk to be filled and done
  };
  Waits waits() const;

 private:
  enum class State : std::uint8_t { empty, held, done };
  // The state of a chunk, which the mutex guards. It is not in the chunk, whose members are in the cache of
  // the lane that holds it.
  struct Entry {
    Waiter* done_by = nullptr;  // the lane that holds the chunk or has processed it
    State state = State::empty;
    bool in_source = false;
  };
  // The piece of the stream for an empty chunk.
  struct Claim {
    std::uint64_t number;
    bool in_source = false;
    std::uint64_t offset = 0;  // this and the rest only if in_source
    std::size_t size = 0;
    bool ends_message = false;
  };
  Entry& entry_at(std::uint64_t number) { return entries_[number % entries_.size()]; }
  Entry& entry_of(const Chunk& chunk) { return entry_at(chunk.number); }
  Chunk& chunk_at(std::uint64_t number) { return chunks_[number % chunks_.size()]; }
  bool next_is_empty() { return entry_at(fill_count_).state == State::empty; }
  std::unique_lock<std::mutex> enter() const;
  bool next_is_done();  // the next chunk to write
  bool can_write() { return !writing_ && next_is_done(); }
  bool can_start();
  bool all_done() const { return closed_ && done_count_ == fill_count_; }
  bool all_written() const { return closed_ && write_count_ == fill_count_; }
  Task next_task(Waiter& waiter, bool start, std::optional<Claim>& claim);
  Claim claim_next();
  void prepare(Chunk& chunk, const Claim& claim);
  void place(Chunk& chunk, std::size_t begin);
  void note_waits();
  class Locked;
  void end(Task task, Locked& locked);
  void wake_to_write(const Entry& entry, Locked& locked);
  void wake(Waiter& waiter, Locked& locked);
  void wake_to_start(Locked& locked);
  void wake_all(Locked& locked);

  std::span<std::byte> memory_;
  std::size_t in_all_;
  std::size_t in_bytes_;
  std::size_t out_bytes_;
  std::uint64_t parallel_size_ = 0;
  Source* source_ = nullptr;
  std::vector<Chunk> chunks_;

  mutable std::mutex mutex_;  // guards all members below
  std::vector<Entry> entries_;
  std::condition_variable end_;   // wakes wait_for_end()
  std::vector<Waiter*> waiting_;  // the last one has waited the shortest time, so its caches are warmest
  Waiter* arriving_ = nullptr;    // the lane that was woken to start a chunk and has not run since; or null
  bool cancelled_ = false;
  bool closed_ = false;   // the last chunk has been filled
  bool reading_ = false;  // a thread has the reader's turn
  bool writing_ = false;  // a thread has the writer's turn
  std::vector<Chunk*> given_back_;
  std::uint64_t parallel_at_ = 0;  // how much of parallel_size_ has been assigned to lanes
  std::uint64_t fill_count_ = 0;   // chunks filled so far, and the number of the next
  std::uint64_t done_count_ = 0;
  std::uint64_t write_count_ = 0;
  Stopwatch reader_waits_;
  Stopwatch writer_waits_;
};

// A ring with the plan's number of chunks, of the plan's size rounded up to whole units of the session.
// IoError.
Ring make_ring(const LanePlan& plan, const Session& session);

// The setup for lanes on that ring. CUDA lanes pin its memory, except the memory for outputs if these
// overwrite their inputs (`in_place`).
LaneSetup lane_setup(const Ring& ring, const Session& session, bool in_place);

}  // namespace gpuaes
