#include "bench/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <string_view>
#include <vector>

#include "cipher/kdf.hpp"
#include "cipher/segments.hpp"
#include "error.hpp"
#include "lane/lanes.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t file_chunk = 1 << 20;  // as lane/plan.cpp chooses them
constexpr std::size_t pipe_chunk = 256 << 10;
constexpr std::chrono::milliseconds time_of_run{40};
constexpr int runs = 5;

struct Kind {
  Operation operation;
  std::string_view name;
};
constexpr std::array kinds{Kind{Operation::ctr, "ctr"}, Kind{Operation::seal, "gcm seal"},
                           Kind{Operation::open, "gcm open"}};

CipherKey make_key() {
  CipherKey key{Cipher::aes_256, Secret(info(Cipher::aes_256).key_bytes)};
  fill_random(key.bytes.bytes());
  return key;
}

// A chunk with a lane for it: the same bytes are done again and again, and stay in the core's cache.
class Sample {
 public:
  Sample(Operation operation, const CipherKey& key, std::size_t size)
      : operation_(operation), key_(key), plain_(size), other_(size), lane_(make_cpu_lane()) {
    fill_random(plain_);
    if (operation == Operation::ctr) return;
    other_.resize(size / segment_bytes * sealed_segment_bytes);
    if (operation == Operation::open) do_job(*lane_, Operation::seal, plain_, other_);
  }

  std::size_t size() const { return plain_.size(); }

  // Once through the lane that is measured.
  void run() {
    const bool opens = operation_ == Operation::open;
    do_job(*lane_, operation_, opens ? other_ : plain_, opens ? plain_ : other_);
  }

  // Whether the reference lane makes the same of it.
  bool is_exact() {
    run();
    const std::unique_ptr<Lane> judge = make_reference_lane();
    const bool opens = operation_ == Operation::open;
    std::vector<std::byte> expected((opens ? plain_ : other_).size());
    do_job(*judge, operation_, opens ? other_ : plain_, expected);
    return expected == (opens ? plain_ : other_);
  }

 private:
  void do_job(Lane& lane, Operation operation, const std::vector<std::byte>& in,
              std::vector<std::byte>& out) const {
    lane.start({.operation = operation, .key = &key_, .in = in, .out = out, .base_nonce = {1, 2, 3}});
    if (lane.finish()) throw LaneError("a tag is wrong that libcrypto made");
  }

  Operation operation_;
  const CipherKey& key_;
  std::vector<std::byte> plain_;
  std::vector<std::byte> other_;  // what becomes of it
  std::unique_ptr<Lane> lane_;
};

// Bytes a second of one thread, which has a chunk to itself.
double run_one(Operation operation, const CipherKey& key, std::size_t size) {
  Sample sample(operation, key, size);
  sample.run();  // which makes the key schedule
  std::size_t bytes = 0;
  const Clock::time_point start = Clock::now();
  Clock::time_point now = start;
  for (; now - start < time_of_run; now = Clock::now()) {
    sample.run();
    bytes += size;
  }
  return static_cast<double>(bytes) / std::chrono::duration<double>(now - start).count();
}

// Gigabytes a second of all threads together: the median of `runs`.
double run_all(Operation operation, const CipherKey& key, std::size_t size, unsigned threads) {
  std::array<double, runs> rates{};
  for (double& rate : rates) {
    std::vector<std::future<double>> results;
    for (unsigned i = 0; i < threads; ++i)
      results.push_back(std::async(std::launch::async, run_one, operation, std::cref(key), size));
    for (std::future<double>& result : results) rate += result.get() / 1e9;
  }
  std::ranges::sort(rates);
  return rates[runs / 2];
}

}  // namespace

void run_memory_bench(unsigned threads, ReportForm form) {
  const CipherKey key = make_key();
  for (const Kind& kind : kinds)
    if (!Sample(kind.operation, key, file_chunk).is_exact())
      throw LaneError(fmt::format("libcrypto and the reference differ: {}", kind.name));
  Report report(form, {{"mode", 8}, {"key_bits"}, {"chunk_bytes"}, {"threads"}, {"gb_per_s"}});
  std::vector<unsigned> counts{1};
  if (threads > 1) counts.push_back(threads);
  for (const std::size_t size : {file_chunk, pipe_chunk})
    for (const Kind& kind : kinds)
      for (const unsigned count : counts)
        report.add({kind.name, 256, size, count, run_all(kind.operation, key, size, count)});
  report.finish();
}

}  // namespace gpuaes
