// The ring is the scheduler: a fixed set of chunks that go round, empty -> filling -> filled -> taken -> done ->
// empty. The reader fills them in the order of the stream, any lane takes the next filled one, the writer waits for
// its own next one. A chunk's slot is its sequence number modulo their count, so order needs no map, and a full ring
// is the only backpressure.
//
// One mutex: a chunk is megabytes, and lock-free code would buy nothing.
//
// From here on: only the thread that holds a chunk touches what is in it. in and out are separate memory, so that
// a chunk whose lane failed can be done again.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <vector>

namespace gpuaes {

struct Chunk {
  std::span<std::byte> in_memory;   // whole units of the session
  std::span<std::byte> out_memory;  // what becomes of them

  std::uint64_t offset = 0;   // of its first byte in the input
  std::size_t in_size = 0;    // bytes of input
  std::size_t out_size = 0;   // bytes of output, once done
  bool lane_reads = false;    // the bytes are not in in_memory yet: the lane reads them from the source
  std::exception_ptr error;   // thrown by the writer after this chunk's output

  std::span<std::byte> in() const { return in_memory.first(in_size); }
  std::span<std::byte> out() const { return out_memory.first(out_size); }

 private:
  friend class Ring;
  enum class State { empty, held, filled, done };
  State state_ = State::empty;
  std::size_t in_used_ = 0;  // the most that ever was in it, for wiping
  std::size_t out_used_ = 0;
};

class Ring {
 public:
  // `chunks` slots (at least 1) of `in_bytes` and `out_bytes` each, in one mapping. Memory is taken as it is first
  // used. IoError when there is not so much.
  Ring(std::size_t chunks, std::size_t in_bytes, std::size_t out_bytes);
  ~Ring();  // wipes what was used
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  std::size_t chunks() const noexcept { return chunks_.size(); }
  std::size_t in_bytes() const noexcept { return in_bytes_; }
  std::span<std::byte> memory() const noexcept { return memory_; }

  // For the reader. fill(): the next chunk, empty; waits for it; nullptr when cancelled. Each chunk got from fill()
  // goes back by filled(), in order. close(): no more will come.
  Chunk* fill();
  void filled(Chunk& chunk);
  void close();

  // For lanes. take(): the earliest filled chunk; waits for it; nullptr when all that came is done, or cancelled.
  // try_take() does not wait. done(): its output, or its error, is there. give_back(): another lane shall do it.
  Chunk* take();
  Chunk* try_take();
  void done(Chunk& chunk);
  void give_back(Chunk& chunk);

  // For the writer. front(): the next chunk of the stream, done; waits for it; nullptr when all was written, or
  // cancelled. release(): it has been written and is empty.
  Chunk* front();
  void release(Chunk& chunk);

  // All who wait, now or later, get nullptr.
  void cancel();

  // Waits until `bytes` of input were filled: true; or until the input ended or was cancelled: false.
  bool wait_for_input(std::uint64_t bytes);

 private:
  Chunk& slot(std::uint64_t sequence) { return chunks_[sequence % chunks_.size()]; }
  Chunk* find_filled();
  bool all_done() const { return closed_ && done_count_ == fill_count_; }

  std::span<std::byte> memory_;
  std::size_t in_bytes_;
  std::vector<Chunk> chunks_;

  std::mutex mutex_;
  std::condition_variable emptied_, filled_, done_, progressed_;
  bool cancelled_ = false;
  bool closed_ = false;
  std::uint64_t input_bytes_ = 0;
  // Sequence numbers: of the next chunk to fill, of the earliest that may be filled and untaken, to write.
  std::uint64_t fill_count_ = 0;
  std::uint64_t take_from_ = 0;
  std::uint64_t done_count_ = 0;
  std::uint64_t write_count_ = 0;
};

}  // namespace gpuaes
