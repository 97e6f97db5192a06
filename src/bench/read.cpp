// gpuaes-bench read: input without a cipher.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bench/benches.hpp"
#include "cli/option_values.hpp"
#include "pipeline/ring.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

// Reads a file in any number of threads. Each takes the next part of the file, as lanes do.
class ParallelReader {
 public:
  // `stop` ends reading early; the bytes read by then still give a rate.
  ParallelReader(const FdSource& source, const Cancel& stop) : source_(source), stop_(stop) {}

  // What each thread does with its buffer. Returns the number of bytes that it has read.
  std::uint64_t run(std::span<std::byte> buffer) {
    std::uint64_t bytes = 0;
    const std::uint64_t size = source_.size().value();
    for (std::uint64_t at; (at = next_.fetch_add(buffer.size())) < size && !stop_.requested();) {
      const std::size_t part = std::min<std::uint64_t>(buffer.size(), size - at);
      source_.read_at(at, buffer.first(part));
      bytes += part;
    }
    return bytes;
  }

 private:
  const FdSource& source_;
  const Cancel& stop_;
  std::atomic<std::uint64_t> next_ = 0;
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
  const FdSource source = open_input_file(arguments.cancel);
  Report report(arguments.cancel, arguments.form,
                {"threads", "call_bytes", Column("bytes", 13), Column("seconds", 11), "gb_per_s"});
  const Ring ring(threads, call_bytes, 0);  // allocates memory as the filter does
  const std::size_t stride = ring.memory().size() / threads;
  ParallelReader reader(source, arguments.cancel);
  const Clock::time_point start = Clock::now();
  std::vector<std::future<std::uint64_t>> readers;
  for (unsigned i = 0; i < threads; ++i)
    readers.push_back(std::async(std::launch::async, &ParallelReader::run, &reader,
                                 ring.memory().subspan(i * stride, call_bytes)));
  std::uint64_t bytes = 0;
  for (std::future<std::uint64_t>& each : readers) bytes += each.get();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  report.add({threads, call_bytes, bytes, seconds, static_cast<double>(bytes) / 1e9 / seconds});
  report.finish();
}

}  // namespace gpuaes
