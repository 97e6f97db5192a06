#include "pipeline/chunk_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/error.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How long a chunk with whole units waits for more input. Input that does not fill a chunk in this time
// leaves the lanes idle anyway; faster input is not split up.
constexpr milliseconds flush_after{5};

// Lanes read their chunks in pieces of this size, the last one up to twice as large, because small reads are
// slow. A run that is stopped early then need not wait long for the disk, and has little memory to wipe.
constexpr std::size_t load_step = 4 << 20;

// Whether a unit can be processed only after a byte or the end follows it.
bool holds_back(const Session& session) {
  return session.rules().last_may_be_full();
}

// How many of the first `size` bytes of a piece are whole units that can be processed.
std::uint64_t whole_units(std::uint64_t size, const Session& session) {
  const std::uint64_t before_last = holds_back(session) && size > 0 ? size - 1 : size;
  return before_last / session.unit_in() * session.unit_in();
}

// Where lanes stop reading by themselves. The last unit of an input is not read in parallel unless the end of
// its message is known: it shows whether the input grew.
std::uint64_t find_parallel_end(Source& source, const Session& session) {
  const std::uint64_t size = source.parallel_size();
  if (size > 0 && source.message_end(0) != Source::unknown_end) return size;
  return whole_units(size, session);
}

}  // namespace

ChunkSteps::ChunkSteps(Ring& ring, Source& source, Sink& sink, const Session& session)
    : ring_(ring),
      source_(source),
      sink_(sink),
      session_(session),
      parallel_end_(find_parallel_end(source, session)),
      after_parallel_(parallel_end_ == 0),
      offset_(parallel_end_),
      message_end_(parallel_end_) {
  ring.set_parallel(source, parallel_end_);
}

bool ChunkSteps::is_end(const Chunk& chunk) const {
  return chunk.in_source ? chunk.offset + chunk.in_size == parallel_end_ : chunk.last || chunk.error;
}

// The reader's turn -----------------------------------------------------------------------------

bool ChunkSteps::fill(Worker& worker, Chunk& chunk, bool wait) {
  // Lanes have read up to here by themselves: whole units, up to the size that the file had when it was
  // opened.
  if (!std::exchange(after_parallel_, true)) source_.skip_to(parallel_end_);
  chunk.offset = offset_;
  bool ended;
  {
    Span span("read", worker.tracks, chunk, &worker.stats.read_seconds);
    ended = read_units(chunk, wait);
    if (!ended && chunk.in_size == 0) {
      span.discard();
      ring_.unfilled(chunk);
      return false;
    }
  }
  offset_ += chunk.in_size;
  ring_.filled(chunk, ended);
  return true;
}

// Reads until the chunk is full or its message ends, or it has whole units and no more input arrives for a
// while, or the input ends. Returns whether the input ended. Bytes beyond whole units are carried over to the
// next chunk; if the last segment may be full, these include the byte after a full chunk.
bool ChunkSteps::read_units(Chunk& chunk, bool wait) {
  std::ranges::copy(carried_.bytes().first(carried_size_), chunk.in_memory.begin());
  std::size_t size = carried_size_;
  bool ended = false;
  try {
    ended = read_into(chunk, size, wait);
  } catch (AuthError& error) {
    add_verified_bytes(error, chunk.offset + (holds_back(session_) ? whole_units(size, session_) : size));
    chunk.error = std::current_exception();
    ended = true;
  } catch (const Error&) {
    chunk.error = std::current_exception();
    ended = true;
  }
  // An error does not end the stream: the session must not mistake an incomplete unit for a short last one.
  chunk.last = ended && !chunk.error;
  const bool fits = size <= chunk.in_memory.size();
  chunk.ends_message = size > 0 && fits && chunk.offset + size == message_end_;
  if (message_end_ == Source::unknown_end) chunk.ends_message = chunk.last;
  chunk.in_size = chunk.ends_message ? size : static_cast<std::size_t>(whole_units(size, session_));
  carried_size_ = size - chunk.in_size;
  if (!fits || carried_size_ == 0) return ended;  // the byte after a full chunk is already in its place
  const std::span<std::byte> beyond = chunk.in_memory.subspan(chunk.in_size, carried_size_);
  std::ranges::copy(beyond, carried().begin());
  wipe(beyond);  // the ring wipes only the bytes of the chunk
  return ended;
}

// Most small files carry nothing over, so its memory is allocated when it is first needed.
std::span<std::byte> ChunkSteps::carried() {
  if (carried_.size() == 0) carried_ = Secret(session_.unit_in());
  return carried_.bytes();
}

// Adds the bytes read to `size`, even if it throws.
bool ChunkSteps::read_into(Chunk& chunk, std::size_t& size, bool wait) {
  if (offset_ == message_end_) {
    if (!wait && !source_.ready({})) return false;
    message_end_ = source_.message_end(offset_);
    if (offset_ == message_end_) return true;
  }
  const std::uint64_t left = message_end_ - offset_;
  const std::span<std::byte> in = chunk.in_memory;
  const std::size_t most = in.size() + (holds_back(session_) ? 1 : 0);
  const auto end = static_cast<std::size_t>(std::min<std::uint64_t>(most, left));
  bool ended = false;
  const Clock::time_point start = Clock::now();
  chunk.in_touched = std::max(chunk.in_touched, size);  // after each read, because a request to stop throws
  while (size < end && !ended) {
    const auto waited = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
    const bool can_flush = whole_units(size, session_) > 0;
    const milliseconds patience = can_flush ? std::max(flush_after - waited, {}) : milliseconds{0};
    if ((can_flush || !wait) && !source_.ready(patience)) break;
    const bool is_full = size == in.size();
    const std::size_t count =
        source_.read(is_full ? carried().first(1) : in.subspan(size, std::min(end, in.size()) - size));
    ended = count == 0;
    size += count;
    chunk.in_touched = std::max(chunk.in_touched, std::min(size, in.size()));
  }
  return ended;
}

// Adds to an error in the input how many bytes of plaintext were verified before the unit at `offset`.
void ChunkSteps::add_verified_bytes(AuthError& error, std::uint64_t offset) const {
  error.append(
      fmt::format("; {} bytes of plaintext before that were verified", session_.plaintext_before(offset)));
}

// The lane's work --------------------------------------------------------------------------------

void ChunkSteps::start(Worker& worker, Chunk& chunk) {
  if (worker.jobs.empty()) worker.busy_since = Clock::now();
  worker.jobs.push_back(&chunk);
  chunk.in_place = chunk.in_source && (session_.in_place() || worker.lane->copies());
  load(worker, chunk);
  const bool is_synchronous = worker.lane->depth() == 1;
  const Span span(is_synchronous ? "cipher" : "enqueue", worker.tracks, chunk);
  worker.lane->start(session_.job({chunk.offset, chunk.in(), chunk.out(), chunk.ends_message}));
}

// Loads the input if it is in the source, and sets the size of the output.
void ChunkSteps::load(Worker& worker, Chunk& chunk) {
  if (chunk.in_source) {
    const Span span("read", worker.tracks, chunk, &worker.stats.read_seconds);
    read_in_parallel(chunk);
  }
  chunk.out_size = session_.output_size(chunk.in_size, chunk.ends_message);
  if (!chunk.in_place && body_place_)
    ring_.place_output(chunk, (*body_place_ + session_.plaintext_before(chunk.offset)) % Sink::page_bytes);
  std::size_t& touched = chunk.in_place ? chunk.in_touched : chunk.out_touched;
  touched = std::max(touched, chunk.out_size);
}

void ChunkSteps::read_in_parallel(Chunk& chunk) {
  try {
    for (std::size_t done = 0; done < chunk.in_size;) {
      const std::size_t left = chunk.in_size - done;
      const std::span<std::byte> part = chunk.in().subspan(done, left < 2 * load_step ? left : load_step);
      done += part.size();
      chunk.in_touched = std::max(chunk.in_touched, done);
      source_.read_at(chunk.offset + done - part.size(), part);
    }
    return;
  } catch (AuthError& error) {
    add_verified_bytes(error, chunk.offset);
    chunk.error = std::current_exception();
  } catch (const Error&) {
    chunk.error = std::current_exception();
  }
  chunk.in_size = 0;
  chunk.in_source = chunk.ends_message = false;
}

Chunk& ChunkSteps::finish(Worker& worker) {
  Chunk& chunk = *worker.jobs.front();
  const std::optional<std::size_t> bad_segment = await(worker, chunk);
  release_verified(chunk, bad_segment);
  worker.stats.chunks += chunk.in_size > 0;
  worker.stats.bytes += chunk.in_size;
  worker.jobs.pop_front();
  if (worker.jobs.empty())
    worker.stats.busy_seconds += std::chrono::duration<double>(Clock::now() - worker.busy_since).count();
  return chunk;
}

// Waits for the lane's oldest chunk.
std::optional<std::size_t> ChunkSteps::await(Worker& worker, const Chunk& chunk) {
  if (worker.lane->depth() == 1) return worker.lane->finish();  // start() has done the work
  std::optional<std::size_t> bad_segment;
  {
    const Span span("device", worker.tracks, chunk);
    bad_segment = worker.lane->finish();
  }
  worker.tracks.add_job(worker.lane->phases(), chunk);
  return bad_segment;
}

// Keeps only the output that may be released.
void ChunkSteps::release_verified(Chunk& chunk, std::optional<std::size_t> bad_segment) {
  if (bad_segment && chunk.in_place) load_again(chunk, *bad_segment);
  const Outcome outcome =
      session_.verify({chunk.offset, chunk.in(), chunk.out(), chunk.ends_message}, bad_segment);
  wipe(chunk.out().subspan(outcome.released));
  chunk.out_size = outcome.released;
  if (outcome.error) chunk.error = std::make_exception_ptr(*outcome.error);
}

// Reads a segment again that the chunk's output has overwritten. The output that may be released ends before
// it in memory.
void ChunkSteps::load_again(Chunk& chunk, std::size_t segment) {
  const std::size_t at = segment * session_.unit_in();
  const std::span<std::byte> in = chunk.in().subspan(at);
  try {
    source_.read_at(chunk.offset + at, in.first(std::min(in.size(), session_.unit_in())));
  } catch (const Error&) {
    // The segment is reported as corrupt anyway.
  }
}

// The writer's turn -----------------------------------------------------------------------------

void ChunkSteps::write(Worker& worker, Chunk& chunk) {
  {
    const Span span("write", worker.tracks, chunk, &worker.stats.write_seconds);
    sink_.write(chunk.out());
  }
  bytes_in_ += chunk.in_size;
  bytes_out_ += chunk.out_size;
  if (chunk.error) std::rethrow_exception(chunk.error);
}

}  // namespace gpuaes
