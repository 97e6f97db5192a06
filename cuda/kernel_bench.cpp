#include "kernel_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include "cipher/aes.hpp"
#include "kernels.hpp"
#include "lane/lanes.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {
namespace {

constexpr std::size_t large = std::size_t{1} << 30;
constexpr std::size_t small = 4 << 20;  // a chunk of the filter
constexpr int warm_ups = 3;
constexpr int runs = 15;
constexpr int launches_of_small = 256;  // queued behind each other, as several lanes queue them

class TimedEvent {
 public:
  TimedEvent() { check(cudaEventCreate(&event_)); }
  ~TimedEvent() { cudaEventDestroy(event_); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  void record(const Stream& stream) { check(cudaEventRecord(event_, stream.get())); }
  double seconds_since(const TimedEvent& start) const {
    check(cudaEventSynchronize(event_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return milliseconds / 1000.0;
  }

 private:
  cudaEvent_t event_;
};

// Everything is run on these: random input, never zeros, which some devices process faster.
struct Bench {
  Stream stream;
  DeviceBuffer in{large};
  DeviceBuffer out{large};
  DeviceBuffer round_keys{sizeof(aes::RoundKeys::words)};
  std::vector<std::byte> input = std::vector<std::byte>(large);
  CounterBlock counter{};

  Bench() {
    std::mt19937_64 random(1);
    std::generate_n(reinterpret_cast<std::uint64_t*>(input.data()), large / 8, std::ref(random));
    std::generate(counter.begin(), counter.end(), std::ref(random));
    check(cudaMemcpy(in.data(), input.data(), large, cudaMemcpyHostToDevice));
  }

  // The `index`-th piece of that size: small launches go round the whole buffer, so that none finds its data
  // in the device's cache.
  void launch(int rounds, std::size_t size, int index) {
    const std::size_t at = static_cast<std::size_t>(index) * size % large;
    launch_aes_ctr(reinterpret_cast<const std::uint32_t*>(round_keys.data()), rounds, load_counter(counter),
                   in.data() + at, out.data() + at, size, stream.get());
  }

  // Gigabytes a second: the median of `runs`.
  double rate(int rounds, std::size_t size, int launches) {
    std::array<double, runs> seconds{};
    for (int run = -warm_ups; run < runs; ++run) {
      TimedEvent start, end;
      start.record(stream);
      for (int i = 0; i < launches; ++i) launch(rounds, size, i);
      end.record(stream);
      const double time = end.seconds_since(start);
      if (run >= 0) seconds[static_cast<std::size_t>(run)] = time;
    }
    std::ranges::sort(seconds);
    return static_cast<double>(size) * launches / seconds[runs / 2] / 1e9;
  }

  void require_exact(const CipherKey& key) {
    std::vector<std::byte> expected(large), got(large);
    const std::unique_ptr<Lane> cpu = make_cpu_lane();
    cpu->start({.key = &key, .counter = counter, .in = input, .out = expected});
    cpu->finish();
    check(cudaMemcpy(got.data(), out.data(), large, cudaMemcpyDeviceToHost));
    if (got != expected)
      throw LaneError(fmt::format("the {} kernel differs from libcrypto", info(key.cipher).name));
  }
};

}  // namespace

void run_kernel_bench() {
  if (count_cuda_devices() == 0) {
    std::puts("kernels: skipped: no CUDA device");
    return;
  }
  Bench bench;
  for (const CipherInfo& cipher : ciphers) {
    CipherKey key{cipher.cipher, Secret(cipher.key_bytes)};
    for (std::size_t i = 0; i < key.bytes.size(); ++i)
      key.bytes.bytes()[i] = static_cast<std::byte>(i * 7 + 1);
    const aes::RoundKeys keys = aes::expand_key(key.bytes.bytes());
    check(cudaMemcpy(bench.round_keys.data(), keys.words.data(), sizeof keys.words, cudaMemcpyHostToDevice));
    bench.launch(keys.rounds, large, 0);
    bench.stream.wait();
    bench.require_exact(key);
    std::printf("kernels: %.*s-ctr, T-tables, exact: 1 GiB %.0f GB/s, 4 MiB launches %.0f GB/s\n",
                static_cast<int>(cipher.name.size()), cipher.name.data(), bench.rate(keys.rounds, large, 1),
                bench.rate(keys.rounds, small, launches_of_small));
  }
}

}  // namespace gpuaes::cuda
