// gpuaes-bench read: input without a cipher.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bench/benches.hpp"
#include "cli/options.hpp"
#include "pipeline/ring.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

// Reads a file in any number of threads. Each takes the next part of the file and the buffer that was filled
// longest ago, as lanes take parts and chunks.
class ParallelReader {
 public:
  // The ring allocates memory as the filter does. `stop` ends reading early; the bytes read by then still
  // give a rate.
  ParallelReader(const FdSource& source, std::size_t call_bytes, std::size_t buffers, const Cancel& stop)
      : source_(source), call_bytes_(call_bytes), ring_(buffers, call_bytes, 0), stop_(stop) {
    const std::size_t stride = ring_.memory().size() / buffers;
    for (std::size_t i = 0; i < buffers; ++i) free_.push_back(ring_.memory().subspan(i * stride, call_bytes));
  }

  // What each thread does. Returns the number of bytes that it has read.
  std::uint64_t run() {
    std::uint64_t bytes = 0;
    std::unique_lock lock(mutex_);
    while (next_ < source_.size() && !stop_.requested()) {
      const std::uint64_t at = next_;
      const std::span<std::byte> buffer = free_.front();
      const std::span<std::byte> part = buffer.first(std::min(call_bytes_, source_.size().value() - at));
      next_ += part.size();
      free_.pop_front();
      lock.unlock();
      source_.read_at(at, part);
      bytes += part.size();
      lock.lock();
      free_.push_back(buffer);
    }
    return bytes;
  }

 private:
  const FdSource& source_;
  const std::size_t call_bytes_;
  Ring ring_;
  const Cancel& stop_;
  std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::deque<std::span<std::byte>> free_;
};

}  // namespace

FdSource open_input_file(Cancel& cancel) {
  FdSource source = open_standard_source(cancel);
  if (source.size().value_or(0) == 0) throw IoError("standard input is not a file with data left to read");
  return source;
}

void run_read_bench(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words;
  const unsigned threads = parse_count(words[0]);
  const std::size_t call_bytes = parse_size(words[1]);
  const unsigned buffers = words.size() > 2 ? parse_count(words[2]) : threads;
  if (buffers < threads)
    throw UsageError("there must be at least as many buffers as threads",
                     "each thread reads into a buffer of its own");
  const FdSource source = open_input_file(arguments.cancel);
  Report report(arguments.cancel, arguments.form,
                {"threads", "call_bytes", "buffers", Column("bytes", 13), Column("seconds", 11), "gb_per_s"});
  ParallelReader reader(source, call_bytes, buffers, arguments.cancel);
  const Clock::time_point start = Clock::now();
  std::vector<std::future<std::uint64_t>> readers;
  for (unsigned i = 0; i < threads; ++i)
    readers.push_back(std::async(std::launch::async, &ParallelReader::run, &reader));
  std::uint64_t bytes = 0;
  for (std::future<std::uint64_t>& each : readers) bytes += each.get();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  report.add({threads, call_bytes, buffers, bytes, seconds, static_cast<double>(bytes) / 1e9 / seconds});
  report.finish();
}

}  // namespace gpuaes
