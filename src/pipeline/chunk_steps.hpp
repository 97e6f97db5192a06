// The steps of a chunk through the pipeline: it is filled from the source, processed by a lane, and written
// to the sink. fill() ends the reader's turn; the pipeline's loop ends the other steps.
//
// Data errors (unreadable input, a wrong tag) stay with their chunk and are thrown when it is written, so the
// output before an error, and the error, are the same in every run. Output that may not be released is wiped
// as soon as its lane is done.
//
// From regular files and block devices, lanes read their chunks in parallel; the ring only assigns the
// ranges. Output overwrites its input in memory if both have the same size, or if the lane works on copies,
// because less memory then has to be cached and pinned. If another lane has to repeat such a chunk, it reads
// the input again; none of the first lane's output has been written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "format/format.hpp"
#include "io/source_sink.hpp"
#include "keys/secret.hpp"
#include "pipeline/ring.hpp"
#include "pipeline/workers.hpp"

namespace gpuaes {

class ChunkSteps {
 public:
  ChunkSteps(Ring& ring, Source& source, Sink& sink, const Session& session);

  // Call this after the header has been written, and before any other member function.
  void begin() { body_place_ = sink_.place_in_page(); }

  // Fills the chunk with the next piece of the input and ends the reader's turn. Returns false if there is
  // less than a unit and `wait` is false.
  bool fill(Worker& worker, Chunk& chunk, bool wait);

  // start() starts the worker's lane on a chunk that was filled or has a range of the source; finish() waits
  // for the oldest chunk that was started, and returns it. LaneError leaves the chunk in worker.jobs.
  void start(Worker& worker, Chunk& chunk);
  Chunk& finish(Worker& worker);

  // Writes a finished chunk. Throws the chunk's error after its output.
  void write(Worker& worker, Chunk& chunk);

  bool is_end(const Chunk& chunk) const;  // whether no chunk follows it

  // The bytes of all chunks written so far. bytes_in() may be called from any thread.
  std::uint64_t bytes_in() const noexcept { return bytes_in_; }
  std::uint64_t bytes_out() const noexcept { return bytes_out_; }

 private:
  bool read_units(Chunk& chunk, bool wait);
  bool read_into(Chunk& chunk, std::size_t& size, bool wait);
  std::span<std::byte> carried();
  void add_verified_bytes(AuthError& error, std::uint64_t offset) const;
  void load(Worker& worker, Chunk& chunk);
  void read_in_parallel(Chunk& chunk);
  std::optional<std::size_t> await(Worker& worker, const Chunk& chunk);
  void load_again(Chunk& chunk, std::size_t segment);
  void release_verified(Chunk& chunk, std::optional<std::size_t> bad_segment);

  Ring& ring_;
  Source& source_;
  Sink& sink_;
  const Session& session_;
  std::optional<std::size_t> body_place_;  // where in a page the output should begin, if that matters

  // Used by the thread that has the reader's turn.
  const std::uint64_t parallel_end_;  // lanes read up to here by themselves
  bool after_parallel_;               // whether the source has been moved to parallel_end_
  std::uint64_t offset_;              // of the next piece of the input
  std::uint64_t message_end_;  // of the message that the piece is in, or offset_ if it is not known yet
  Secret carried_;             // input beyond the whole units of the previous chunk
  std::size_t carried_size_ = 0;

  // Used by the thread that has the writer's turn.
  std::atomic<std::uint64_t> bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
};

}  // namespace gpuaes
