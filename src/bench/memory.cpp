// gpuaes-bench memory: CPU lanes on chunks that stay in caches.

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

#include "base/error.hpp"
#include "bench/benches.hpp"
#include "cipher/modes/segments.hpp"
#include "cli/options.hpp"
#include "keys/kdf.hpp"
#include "lane/backends.hpp"
#include "lane/plan_figures.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t file_chunk = figures.cpu_file.bytes, pipe_chunk = figures.cpu_pipe.bytes;
constexpr std::chrono::milliseconds time_of_run{40};
constexpr int runs = 5;

constexpr std::array operations{Operation::ctr, Operation::seal, Operation::open};

std::string_view name_of(Operation operation, Cipher cipher) {
  if (operation == Operation::ctr) return "ctr";
  const bool seals = operation == Operation::seal;
  switch (info(cipher).family) {
    case Family::aes:
      return seals ? "gcm seal" : "gcm open";
    case Family::kuznyechik:
      return seals ? "mgm seal" : "mgm open";
  }
  refuse_cipher(cipher);
}

CipherKey make_key(Cipher cipher) {
  CipherKey key{cipher, Secret(info(cipher).key_bytes)};
  fill_random(key.bytes.bytes());
  return key;
}

// A chunk and its lane. The same bytes are processed repeatedly and stay in the core's cache.
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

  // Processes the chunk once on the lane that is measured.
  void run() {
    const bool opens = operation_ == Operation::open;
    do_job(*lane_, operation_, opens ? other_ : plain_, opens ? plain_ : other_);
  }

  // Whether the reference lane produces the same output.
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
    lane.start({.operation = operation,
                .key = &key_,
                .in = in,
                .out = out,
                .base_nonce = {{1, 2, 3}, info(key_.cipher).aead.nonce_bytes}});
    if (lane.finish()) throw LaneError("the CPU lane rejects a tag that it made itself");
  }

  Operation operation_;
  const CipherKey& key_;
  std::vector<std::byte> plain_;
  std::vector<std::byte> other_;  // ciphertext
  std::unique_ptr<Lane> lane_;
};

// Bytes per second of one thread with a chunk of its own.
double run_one(Operation operation, const CipherKey& key, std::size_t size) {
  Sample sample(operation, key, size);
  sample.run();  // expands the key
  std::size_t bytes = 0;
  const Clock::time_point start = Clock::now();
  Clock::time_point now = start;
  for (; now - start < time_of_run; now = Clock::now()) {
    sample.run();
    bytes += size;
  }
  return static_cast<double>(bytes) / std::chrono::duration<double>(now - start).count();
}

// Gigabytes per second of all threads together: the median of `runs`.
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

std::vector<Command::Option> memory_options() {
  return {{"ciphers", "NAMES", "aes-128, aes-192, aes-256 (the default) and kuznyechik, separated by commas.",
           cipher_names}};
}

void run_memory_bench(const Arguments& arguments) {
  const unsigned threads = arguments.words.empty() ? usable_cpus() : parse_count(arguments.words[0]);
  std::vector<CipherKey> keys;
  for (const std::string& name : parse_list(arguments.option("ciphers").value_or("aes-256")))
    keys.push_back(make_key(parse_cipher(name)));
  for (const CipherKey& key : keys)
    for (const Operation operation : operations)
      if (!Sample(operation, key, file_chunk).is_exact())
        throw LaneError(fmt::format("the CPU lane and the reference differ: {}, {}", info(key.cipher).name,
                                    name_of(operation, key.cipher)));
  Report report(arguments.form, {{"mode", 8}, {"cipher", 10}, {"chunk_bytes"}, {"threads"}, {"gb_per_s"}});
  std::vector<unsigned> counts{1};
  if (threads > 1) counts.push_back(threads);
  for (const CipherKey& key : keys)
    for (const std::size_t size : {file_chunk, pipe_chunk})
      for (const Operation operation : operations)
        for (const unsigned count : counts)
          report.add({name_of(operation, key.cipher), info(key.cipher).name, size, count,
                      run_all(operation, key, size, count)});
  report.finish();
}

}  // namespace gpuaes
