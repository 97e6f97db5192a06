#include "pipeline/trace.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <limits.h>

#include <new>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char trace_failed_hint[] = "the output is complete; only the trace is not";

constexpr std::size_t flush_bytes = 256 << 10;
constexpr std::size_t max_event_bytes = 512;

// How long closing the file may take after a request to stop. The whole program has to end within a second.
constexpr std::chrono::milliseconds max_closing_time{500};

// Times in the file are microseconds with three decimal places.
std::int64_t nanoseconds(Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

Trace::Trace(std::unique_ptr<Sink> sink, Cancel& cancel) : cancel_(cancel), sink_(std::move(sink)) {
  buffer_.reserve(flush_bytes + max_event_bytes);
  buffer_ += fmt::format(R"({{"traceEvents": [
{{"ph": "M", "pid": {}, "name": "process_name", "args": {{"name": "gpuaes-stream"}}}})",
                         process_);
}

Trace::~Trace() {
  if (!sink_) return;
  try {
    cancel_.allow_for(max_closing_time);
    close();
  } catch (...) {  // another exception is already being reported
  }
}

void Trace::finish() {
  const std::lock_guard lock(mutex_);
  try {
    if (sink_) close();
  } catch (const std::exception&) {
    fail();
  }
  try {
    if (failure_) std::rethrow_exception(failure_);
  } catch (const std::bad_alloc&) {
    throw IoError("not enough memory for the trace", trace_failed_hint);
  } catch (const IoError& error) {  // also PipeClosed, which must not end the program
    throw IoError(error.what(), trace_failed_hint);
  }
}

void Trace::close() {
  if (!ended_) buffer_ += "\n]}\n";
  ended_ = true;
  flush();
  sink_->close();
  sink_.reset();
}

// Call this in an exception handler. A reader that closes the trace is just another failure: it does not end
// the program with SIGPIPE.
void Trace::fail() noexcept {
  failure_ = std::current_exception();  // needs no memory, which may be exhausted
  sink_.reset();                        // on a full disk, this makes room for the output
}

// Writes pieces that a pipe accepts entirely or not at all, so flushing can resume after a request to stop
// interrupts it.
void Trace::flush() {
  while (flushed_ < buffer_.size()) {
    const std::string_view piece = std::string_view(buffer_).substr(flushed_, PIPE_BUF);
    sink_->write(std::as_bytes(std::span(piece)));
    flushed_ += piece.size();
  }
  buffer_.clear();
  flushed_ = 0;
}

template <class Format>
void Trace::add_event(Format format) noexcept {
  const std::lock_guard lock(mutex_);
  if (!sink_) return;
  try {
    buffer_ += format();
    if (buffer_.size() >= flush_bytes) flush();
  } catch (const std::exception&) {
    fail();
  } catch (const Cancelled&) {  // it is thrown again where it can be reported
  }
}

// Returns the number of the first new track.
unsigned Trace::add_tracks(std::size_t count) {
  const std::lock_guard lock(mutex_);
  return std::exchange(tracks_, tracks_ + static_cast<unsigned>(count)) + 1;
}

void Trace::name_track(unsigned track, const std::string& name) noexcept {
  add_event([&] {
    return fmt::format(R"(,
{{"ph": "M", "pid": {0}, "tid": {1}, "name": "thread_name", "args": {{"name": "{2}"}}}},
{{"ph": "M", "pid": {0}, "tid": {1}, "name": "thread_sort_index", "args": {{"sort_index": {1}}}}})",
                       process_, track, name);
  });
}

// FMT_COMPILE makes formatting faster.
void Trace::add(unsigned track, const Phase& span, const Chunk* chunk) noexcept {
  const std::int64_t begin = nanoseconds(span.begin - start_), length = nanoseconds(span.end - span.begin);
  add_event([&] {
    std::string event =
        fmt::format(FMT_COMPILE(R"(,
{{"ph": "X", "pid": {}, "tid": {}, "name": "{}", "ts": {}.{:03}, "dur": {}.{:03})"),
                    process_, track, span.name, begin / 1000, begin % 1000, length / 1000, length % 1000);
    if (chunk != nullptr)
      event += fmt::format(FMT_COMPILE(R"(, "args": {{"chunk": {}, "offset": {}, "bytes": {}}})"),
                           chunk->number, chunk->offset, chunk->in_size);
    return event + "}";
  });
}

LaneTracks::LaneTracks(Trace& trace, const Lane& lane, std::size_t number)
    : trace_(&trace),
      name_(fmt::format("worker {}, {}", number, lane.name())),
      first_(trace.add_tracks(1 + lane.depth())),
      depth_(lane.depth()) {
  trace.name_track(first_, name_);
}

void LaneTracks::add_phases(std::span<const Phase> phases, const Chunk& chunk) {
  const std::size_t row = jobs_ % depth_;
  const unsigned track = first_ + 1 + static_cast<unsigned>(row);
  if (jobs_++ < depth_) trace_->name_track(track, fmt::format("{}, job {}", name_, row + 1));
  for (const Phase& phase : phases) trace_->add(track, phase, &chunk);
}

Span::Span(const char* name, const LaneTracks& tracks, const Chunk& chunk, double* seconds)
    : name_(name),
      tracks_(tracks),
      chunk_(chunk),
      seconds_(seconds),
      range_(name),
      timed_(tracks.enabled() || seconds != nullptr) {
  if (timed_) begin_ = Clock::now();
}

Span::~Span() {
  if (!timed_) return;
  const Clock::time_point end = Clock::now();
  tracks_.add({name_, begin_, end}, &chunk_);
  if (seconds_ != nullptr) *seconds_ += std::chrono::duration<double>(end - begin_).count();
}

}  // namespace gpuaes
