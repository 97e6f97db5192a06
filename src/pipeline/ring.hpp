// The ring is the scheduler: a fixed set of chunks that go round, and two turns that only one lane has at a
// time, to read and to write. A free lane asks for its next task: to write the next chunk of the stream, or
// to fill an empty one, upon which it passes the reader's turn on and does the cipher work.
//
// A chunk is written by the lane that did it, where that lane waits for it. So with few chunks each stays
// with one thread from its reading to its writing, and its bytes in that core's cache: 0.9 to 1.0 times the
// speed of a copying loop between two pipes (16 cores, AES-256). A thread that reads, lanes, and a thread
// that writes made 0.7 to 0.8: every byte moved between caches twice, and each step woke another thread. With
// more chunks no lane ever waits for a slower one.
//
// Chunks that lanes read for themselves are written by whoever is at it: a lane for each chunk would have to
// be woken, and where all of them once wait for a slow one, that becomes one chunk for each waking: 27 GB/s
// instead of 55 with chunks of 1 MiB, 6 to 10 instead of 40 with 128 KiB (16 lanes).
//
// Chunk N of the stream is entry N modulo the size of the ring, so order needs no map, and a full ring is the
// only backpressure. One mutex: it is taken some times for each chunk, and lock-free code would buy nothing.
//
// From here on: only the thread that holds a chunk touches what is in it, only the thread whose turn it is
// reads or writes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

#include "format/format.hpp"
#include "lane/backends.hpp"
#include "lane/plan.hpp"

namespace gpuaes {

// Adds up how long a condition held.
class Stopwatch {
 public:
  // Whether it holds from now on. The clock is read only when that changes.
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

// Where a lane waits for its next task. It must live as long as the ring is used.
class Waiter {
 public:
  double waited_seconds() const { return waited_.seconds(); }  // for the thread that waits here

 private:
  friend class Ring;
  std::condition_variable called_;
  bool waiting_ = false;
  bool to_write_ = false;  // called to write the chunk that is next in the stream
  Stopwatch waited_;
};

struct Chunk {
  std::span<std::byte> in_memory;        // whole units of the session
  std::span<std::byte> out_memory;       // what becomes of them; apart from in_memory
  std::span<std::byte> in_place_memory;  // begins as in_memory does, with room for what becomes of it

  std::uint64_t number = 0;  // in the stream, from 0
  std::uint64_t offset = 0;  // of its first byte in the stream
  std::size_t in_size = 0;   // bytes of input
  std::size_t out_size = 0;  // bytes of output; once done, those that may be written
  bool last = false;         // the stream ends with it
  bool in_source = false;    // the input is to be had from the source again and again, with read_at()
  bool in_place = false;     // the output takes the place of the input
  std::exception_ptr error;  // thrown by the writer after this chunk's output

  // The most bytes that ever were in its memory, for wiping. The thread that holds the chunk updates them.
  std::size_t in_touched = 0;
  std::size_t out_touched = 0;

  std::span<std::byte> in() const { return in_memory.first(in_size); }
  std::span<std::byte> out() const { return (in_place ? in_place_memory : out_memory).first(out_size); }

 private:
  friend class Ring;
  enum class State { empty, held, done };
  State state_ = State::empty;
  Waiter* done_by_ = nullptr;  // the lane that holds it, or did it
};

class Ring {
 public:
  // `chunks` (at least 1) of `in_bytes` and `out_bytes` each, in one mapping. Memory is taken as it is first
  // used. IoError if the system does not have it.
  Ring(std::size_t chunks, std::size_t in_bytes, std::size_t out_bytes);
  ~Ring();  // wipes what was used
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  std::size_t chunks() const noexcept { return chunks_.size(); }
  std::size_t in_bytes() const noexcept { return in_bytes_; }
  std::size_t out_bytes() const noexcept { return out_bytes_; }
  std::span<std::byte> memory() const noexcept { return memory_; }  // of inputs, then of outputs
  // Where inputs are, and outputs that take their place.
  std::span<std::byte> in_memory() const noexcept { return memory_.first(in_all_); }

  // The first `size` bytes of the stream are to be had from the source again and again: chunks of them need
  // no reader's turn. Before the first take().
  void set_parallel_size(std::uint64_t size) { parallel_size_ = size; }

  struct Task {
    enum class Kind {
      none,
      fill,   // the chunk is empty: fill it, which is the reader's turn, and do it
      work,   // the chunk's input is to be had from the source, or it was given back: do it
      write,  // the chunk is done: write it, which is the writer's turn
    };
    Kind kind = Kind::none;
    Chunk* chunk = nullptr;
  };

  // What the caller may be given, and whether it has time to wait for it.
  struct TakeOptions {
    bool start;  // chunks to fill or to work on; else only to write
    bool wait;   // for a task; else there may be none
  };

  // The next task. Having waited, none only when all chunks are done and no more will come; and always when
  // cancelled.
  Task take(Waiter& waiter, TakeOptions options);

  // Ends the reader's turn. filled(): the caller holds the chunk, which is the next of the stream, and
  // nothing comes after it if `closed`. unfilled(): there was nothing to fill it with, it is empty as before.
  void filled(Chunk& chunk, bool closed);
  void unfilled(Chunk& chunk);

  // The caller no longer holds the chunk. done(): its output, or its error, is there. give_back(): it is to
  // be done by another lane. Whoever calls these, or written(), asks for another task soon.
  void done(Chunk& chunk);
  void give_back(Chunk& chunk);

  // Ends the writer's turn: the chunk has been written and is empty.
  void written(Chunk& chunk);

  // Nobody gets anything from now on.
  void cancel();

  // Waits until all was written, or cancelled.
  void wait_for_end();

  // From the first take() on, and up to the last change: complete at the end.
  struct Waits {
    double reader_seconds;  // the next chunk could not be filled: its entry was not yet written
    double writer_seconds;  // the next chunk could not be written: it was not filled, or not done
  };
  Waits waits() const;

 private:
  Chunk& chunk_at(std::uint64_t sequence) { return chunks_[sequence % chunks_.size()]; }
  std::unique_lock<std::mutex> enter() const;
  bool next_is_done();
  bool next_is_empty();
  bool can_write();
  bool can_start();
  bool all_done() const { return closed_ && done_count_ == fill_count_; }
  bool all_written() const { return closed_ && write_count_ == fill_count_; }
  Task next_task(Waiter& waiter, bool start);
  Task next_parallel_chunk(Chunk& chunk);
  void note_waits();
  void call(Waiter* waiter);
  void call_any();
  void call_all();

  std::span<std::byte> memory_;
  std::size_t in_all_;
  std::size_t in_bytes_;
  std::size_t out_bytes_;
  std::uint64_t parallel_size_ = 0;
  std::vector<Chunk> chunks_;

  mutable std::mutex mutex_;      // for what follows
  std::condition_variable end_;   // what wait_for_end() waits for
  std::vector<Waiter*> waiting_;  // the last one came last, and its caches are the warmest
  bool cancelled_ = false;
  bool closed_ = false;   // the last chunk was filled
  bool reading_ = false;  // someone has the reader's turn
  bool writing_ = false;  // someone has the writer's turn
  std::vector<Chunk*> given_back_;
  std::uint64_t parallel_at_ = 0;  // bytes of the parallel_size_ that chunks have been taken for
  std::uint64_t fill_count_ = 0;   // chunks filled so far, which is the sequence number of the next
  std::uint64_t done_count_ = 0;
  std::uint64_t write_count_ = 0;
  Stopwatch reader_waits_;
  Stopwatch writer_waits_;
};

// A ring with the plan's number of chunks, of the plan's size rounded up to whole units of the session.
// IoError.
Ring make_ring(const LanePlan& plan, const Session& session);

// What lanes are opened with for that ring. CUDA lanes pin its memory: of outputs only if these are not
// written over their inputs, `in_place`.
LaneSetup lane_setup(const Ring& ring, const Session& session, bool in_place);

}  // namespace gpuaes
