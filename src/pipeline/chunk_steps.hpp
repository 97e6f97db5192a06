// The way of a chunk through the pipeline: it is filled from the source, enciphered by a lane, and written to
// the sink. Each step ends with word to the ring.
//
// Errors of the data (input that cannot be read, a wrong tag) travel in their chunk and are thrown when it is
// written: the output before an error, and the error, are the same every time. Output that may not be
// released is wiped as soon as its lane is done.
//
// From regular files and block devices lanes read in parallel, each its own chunk; the reader's turn is then
// only the choice of the next range. Output replaces its input in memory if both are of one size, or if the
// lane works on copies anyway: that is less memory for caches to hold and for devices to pin. A lane that
// does such a chunk again reads it again; none of the output that the first lane made of it was ever written.
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

  // Makes the chunk the next piece of the input, and ends the reader's turn. False if less than a unit is
  // there and the caller must not wait (`wait`) for more.
  bool fill(Worker& worker, Chunk& chunk, bool wait);

  // Starts the worker's lane on a chunk that was filled, or that has its range of the source. finish() waits
  // for the oldest chunk that was started. LaneError leaves the chunk in worker.jobs.
  void start(Worker& worker, Chunk& chunk);
  void finish(Worker& worker);

  // Writes a chunk that is done, and ends the writer's turn. Throws the chunk's error after its output.
  void write(Worker& worker, Chunk& chunk);

  bool is_end(const Chunk& chunk) const;  // whether no chunk comes after it

  std::uint64_t bytes_in() const noexcept { return bytes_in_; }  // written so far; from any thread
  std::uint64_t bytes_out() const noexcept { return bytes_out_; }

 private:
  bool read_units(Chunk& chunk, bool wait);
  void load(Worker& worker, Chunk& chunk);
  void read_in_parallel(Chunk& chunk);
  std::optional<std::size_t> await(Worker& worker, const Chunk& chunk);
  void release_verified(Chunk& chunk, std::optional<std::size_t> bad_segment);

  Ring& ring_;
  Source& source_;
  Sink& sink_;
  const Session& session_;

  // For the thread that has the reader's turn.
  const std::uint64_t parallel_end_;  // up to here lanes read for themselves
  bool after_parallel_;               // whether read() goes on there
  std::uint64_t offset_;              // of the next piece of the input
  Secret carried_;                    // input beyond the last chunk's whole units
  std::size_t carried_size_ = 0;

  // For the thread that has the writer's turn.
  std::atomic<std::uint64_t> bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
};

}  // namespace gpuaes
