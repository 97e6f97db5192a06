// gpuaes-bench copy and read: input and output without a cipher.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/benches.hpp"
#include "bench/input_file.hpp"
#include "cli/options.hpp"
#include "io/fd_source_sink.hpp"
#include "io/output_file.hpp"
#include "pipeline/ring.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

// Hands out ranges of the file and buffers to read them into.
class ReadQueue {
 public:
  struct Read {
    FileSpan range;
    std::span<std::byte> buffer;
  };

  // The ring allocates memory as the filter does.
  ReadQueue(FileSpan file, std::size_t call_bytes, std::size_t buffers, const Cancel& cancel)
      : rest_(file), call_bytes_(call_bytes), ring_(buffers, call_bytes, 0), cancel_(cancel) {
    const std::size_t stride = ring_.memory().size() / buffers;
    for (std::size_t i = 0; i < buffers; ++i) free_.push_back(ring_.memory().subspan(i * stride, call_bytes));
  }

  std::optional<Read> take() {
    const std::lock_guard lock(mutex_);
    if (rest_.begin == rest_.end || cancel_.requested()) return std::nullopt;
    const FileSpan range{rest_.begin, std::min(rest_.begin + call_bytes_, rest_.end)};
    rest_.begin = range.end;
    const std::span<std::byte> buffer = free_.front();
    free_.pop_front();
    return Read{range, buffer};
  }

  void give_back(const Read& read) {
    const std::lock_guard lock(mutex_);
    free_.push_back(read.buffer);
  }

 private:
  std::mutex mutex_;
  FileSpan rest_;
  const std::size_t call_bytes_;
  Ring ring_;
  const Cancel& cancel_;  // stops reading early; the bytes read by then still give a rate
  std::deque<std::span<std::byte>> free_;
};

// Returns the number of bytes read.
std::uint64_t read_all(ReadQueue& queue) {
  std::uint64_t bytes = 0;
  while (const std::optional<ReadQueue::Read> read = queue.take()) {
    read_range(read->range, read->buffer);
    bytes += read->range.end - read->range.begin;
    queue.give_back(*read);
  }
  return bytes;
}

}  // namespace

void run_copy_bench(const Arguments& arguments) {
  std::vector<std::byte> buffer(parse_size(arguments.words[0]));
  Cancel cancel;
  FdSource source = open_source(std::string(standard_name), cancel);
  const std::unique_ptr<Sink> sink = open_sink(find_output(std::nullopt), {}, cancel);
  while (const std::size_t count = source.read(buffer)) sink->write(std::span(buffer).first(count));
  sink->finish();
}

void run_read_bench(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.words;
  const unsigned threads = parse_count(words[0]);
  const std::size_t call_bytes = parse_size(words[1]);
  const unsigned buffers = words.size() > 2 ? parse_count(words[2]) : threads;
  if (buffers < threads) throw UsageError("fewer buffers than threads", "each thread reads into one");
  const FileSpan file = rest_of_input();
  Report report(
      arguments.form,
      {{"threads"}, {"call_bytes", 10}, {"buffers"}, {"bytes", 13}, {"seconds", 11, 6}, {"gb_per_s"}});
  ReadQueue queue(file, call_bytes, buffers, report.cancel());
  const Clock::time_point start = Clock::now();
  std::vector<std::future<std::uint64_t>> readers;
  for (unsigned i = 0; i < threads; ++i)
    readers.push_back(std::async(std::launch::async, read_all, std::ref(queue)));
  std::uint64_t bytes = 0;
  for (std::future<std::uint64_t>& reader : readers) bytes += reader.get();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  report.add({threads, call_bytes, buffers, bytes, seconds, static_cast<double>(bytes) / 1e9 / seconds});
  report.finish();
}

}  // namespace gpuaes
