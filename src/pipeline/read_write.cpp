// The two turns that one lane has at a time: how a chunk is filled from the source, and written to the sink.
#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "pipeline/pipeline.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How long a part-filled chunk waits for more input before it goes on its way. Input that comes slower than a
// chunk in this time does not fill any machine; faster input is not cut up.
constexpr milliseconds flush_after{5};

// Lanes read their chunks in steps of so many bytes, so that what is wiped in the end is what was used.
constexpr std::size_t load_step = 16 << 20;

}  // namespace

// The reader's turn -----------------------------------------------------------------------------

// Makes the chunk the next piece of the input, and ends the turn. False where less than a unit is there, and
// the caller must not wait for more.
bool Pipeline::fill(Worker& worker, Chunk& chunk, bool wait) {
  // What lanes read for themselves ends with whole units, and where the file ended when it was opened.
  if (!std::exchange(behind_shared_, true)) parts_.source.skip_to(shared_end_);
  chunk.offset = offset_;
  bool ended;
  {
    Span span("read", worker.tracks, chunk, &worker.stats.read_seconds);
    ended = read_units(chunk, wait);
    if (!ended && chunk.in_size == 0) {
      span.discard();
      parts_.ring.unfilled(chunk);
      return false;
    }
  }
  offset_ += chunk.in_size;
  parts_.ring.filled(chunk, ended);
  return true;
}

// Reads until the chunk is full, or has whole units and nothing more came for a while, or the input ends,
// which is what it returns. What is beyond whole units begins the next chunk.
bool Pipeline::read_units(Chunk& chunk, bool wait) {
  const std::size_t unit = parts_.session.unit_in();
  const std::span<std::byte> in = chunk.in_memory;
  std::ranges::copy(carried_.bytes().first(carried_size_), in.begin());
  std::size_t size = carried_size_;
  chunk.in_touched = std::max(chunk.in_touched, size);  // at once: a request to stop leaves by an exception
  bool ended = false;
  try {
    const Clock::time_point start = Clock::now();
    while (size < in.size() && !ended) {
      const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
      const milliseconds patience = size < unit ? milliseconds{0} : std::max(flush_after - waited, {});
      if ((size >= unit || !wait) && !parts_.source.ready(patience)) break;
      const std::size_t count = parts_.source.read(in.subspan(size));
      ended = count == 0;
      size += count;
      chunk.in_touched = std::max(chunk.in_touched, size);
    }
  } catch (const Error&) {
    chunk.error = std::current_exception();
    ended = true;
  }
  // An error is no end: what a shorter last unit would make of it is never written.
  chunk.last = ended && !chunk.error;
  chunk.in_size = chunk.last ? size : size / unit * unit;
  carried_size_ = size - chunk.in_size;
  const std::span<std::byte> beyond = in.subspan(chunk.in_size, carried_size_);
  std::ranges::copy(beyond, carried_.bytes().begin());
  wipe(beyond);  // the ring wipes what it knows of
  return ended;
}

void Pipeline::read_range(Chunk& chunk) {
  try {
    for (std::size_t done = 0; done < chunk.in_size;) {
      const std::span<std::byte> part = chunk.in().subspan(done, std::min(chunk.in_size - done, load_step));
      done += part.size();
      chunk.in_touched = std::max(chunk.in_touched, done);
      parts_.source.read_at(chunk.offset + done - part.size(), part);
    }
  } catch (const Error&) {
    chunk.error = std::current_exception();
    chunk.in_size = 0;
    chunk.in_source = false;
  }
}

// Makes the chunk's input present, and its output as large as it will be.
void Pipeline::load(Worker& worker, Chunk& chunk) {
  if (chunk.in_source) {
    const Span span("read", worker.tracks, chunk, &worker.stats.read_seconds);
    read_range(chunk);
  }
  chunk.out_size = parts_.session.output_size(chunk.in_size, chunk.last);
  std::size_t& touched = chunk.in_place ? chunk.in_touched : chunk.out_touched;
  touched = std::max(touched, chunk.out_size);
}

// The writer's turn -----------------------------------------------------------------------------

void Pipeline::write(Worker& worker, Chunk& chunk) {
  {
    const Span span("write", worker.tracks, chunk, &worker.stats.write_seconds);
    parts_.sink.write(chunk.out());
  }
  bytes_in_ += chunk.in_size;
  bytes_out_ += chunk.out_size;
  if (chunk.error) std::rethrow_exception(chunk.error);
  parts_.ring.written(chunk);
}

}  // namespace gpuaes
