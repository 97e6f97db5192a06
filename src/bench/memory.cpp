// gpuaes-bench memory: CPU lanes on chunks that stay in caches.

#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "bench/benches.hpp"
#include "cipher/modes/segments.hpp"
#include "cli/option_values.hpp"
#include "keys/kdf.hpp"
#include "lane/backends.hpp"
#include "lane/plan.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t file_chunk = cpu_file_chunk_bytes, pipe_chunk = cpu_pipe_chunk_bytes;
constexpr std::chrono::milliseconds time_of_run{40};
constexpr int runs = 5;

std::string mode_name(Operation operation, Cipher cipher) {
  const std::string_view name = name_of(operation);
  return operation == Operation::ctr ? std::string(name) : fmt::format("{} {}", info(cipher).aead.name, name);
}

void do_job(Lane& lane, Operation operation, const CipherKey& key, std::span<const std::byte> in,
            std::span<std::byte> out) {
  lane.start({.operation = operation,
              .key = &key,
              .in = in,
              .out = out,
              .base_nonce = {{1, 2, 3}, info(key.cipher).aead.nonce_bytes}});
  if (lane.finish()) throw LaneError("the CPU lane rejected its own tag");
}

// Bytes per second of one thread with a lane and a chunk of its own. The same bytes are processed repeatedly
// and stay in the core's cache.
double run_one(Operation operation, const CipherKey& key, std::size_t size) {
  const std::unique_ptr<Lane> lane = make_cpu_lane();
  std::vector<std::byte> plain(size);
  std::vector<std::byte> other(operation == Operation::ctr ? size
                                                           : size / segment_bytes * sealed_segment_bytes);
  fill_random(plain);
  if (operation == Operation::open) do_job(*lane, Operation::seal, key, plain, other);
  const bool opens = operation == Operation::open;
  const auto run = [&] { do_job(*lane, operation, key, opens ? other : plain, opens ? plain : other); };
  run();  // expands the key
  std::size_t bytes = 0;
  const Clock::time_point start = Clock::now();
  Clock::time_point now = start;
  for (; now - start < time_of_run; now = Clock::now()) {
    run();
    bytes += size;
  }
  return static_cast<double>(bytes) / std::chrono::duration<double>(now - start).count();
}

// Gigabytes per second of all threads together: the median of `runs`.
double run_all(Operation operation, const CipherKey& key, std::size_t size, unsigned threads) {
  std::vector<double> rates(runs);
  for (double& rate : rates) {
    std::vector<std::future<double>> results;
    for (unsigned i = 0; i < threads; ++i)
      results.push_back(std::async(std::launch::async, run_one, operation, std::cref(key), size));
    for (std::future<double>& result : results) rate += result.get() / 1e9;
  }
  return median(std::move(rates));
}

}  // namespace

void run_memory_bench(const Arguments& arguments) {
  const unsigned threads = arguments.words.empty() ? usable_cpus() : parse_count(arguments.words[0]);
  const std::vector<Cipher> chosen = arguments.list("ciphers", "aes-256", parse_cipher);
  Report report(arguments.cancel, arguments.form, {"mode", "cipher", "chunk_bytes", "threads", "gb_per_s"});
  std::vector<unsigned> counts{1};
  if (threads > 1) counts.push_back(threads);
  for (const Cipher cipher : chosen) {
    const CipherKey key{cipher, random_secret(info(cipher).key_bytes)};
    for (const std::size_t size : {file_chunk, pipe_chunk})
      for (const Operation operation : {Operation::ctr, Operation::seal, Operation::open})
        for (const unsigned count : counts)
          report.add({mode_name(operation, cipher), info(cipher).name, size, count,
                      run_all(operation, key, size, count)});
  }
  report.finish();
}

}  // namespace gpuaes
