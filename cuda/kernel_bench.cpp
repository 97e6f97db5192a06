#include "kernel_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cipher/aes.hpp"
#include "cipher/gcm.hpp"
#include "cipher/segments.hpp"
#include "error.hpp"
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

std::vector<std::byte> random_bytes(std::size_t size) {
  std::mt19937_64 random(1);
  std::vector<std::byte> bytes(size);
  std::generate_n(reinterpret_cast<std::uint64_t*>(bytes.data()), size / 8, std::ref(random));
  return bytes;
}

constexpr std::size_t sealed_size(std::size_t size) {
  return size / segment_bytes * sealed_segment_bytes;
}

// A key on the device, as lanes have it.
struct BenchKey {
  CipherKey key;
  int rounds;
  DeviceBuffer round_keys{sizeof(aes::RoundKeys::words)};
  DeviceBuffer powers{sizeof(ghash::Powers)};

  explicit BenchKey(const CipherInfo& cipher) : key{cipher.cipher, Secret(cipher.key_bytes)} {
    for (std::size_t i = 0; i < key.bytes.size(); ++i)
      key.bytes.bytes()[i] = static_cast<std::byte>(i * 7 + 1);
    const aes::RoundKeys keys = aes::expand_key(key.bytes.bytes());
    rounds = keys.rounds;
    ghash::Powers host_powers;
    ghash::make_powers(hash_key(keys), host_powers);
    check(cudaMemcpy(round_keys.data(), keys.words.data(), sizeof keys.words, cudaMemcpyHostToDevice));
    check(cudaMemcpy(powers.data(), &host_powers, sizeof host_powers, cudaMemcpyHostToDevice));
  }
};

// Everything is run on these: random input, never zeros, which some devices process faster.
struct Bench {
  Stream stream;
  DeviceBuffer plain{large};
  DeviceBuffer sealed{sealed_size(large)};
  DeviceBuffer opened{large};
  DeviceBuffer masks{large / segment_bytes * tag_bytes};
  DeviceBuffer first_bad{sizeof(std::uint32_t)};
  std::vector<std::byte> input = random_bytes(large);
  CounterBlock counter{0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 1, 2, 3, 4, 5, 6, 7, 8};
  Nonce nonce{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0xff, 0xee};

  Bench() { check(cudaMemcpy(plain.data(), input.data(), large, cudaMemcpyHostToDevice)); }

  AesKernel kernel = AesKernel::bitslice;

  // The `index`-th piece of that size: small launches go round the whole buffer, so that none finds its data
  // in the device's cache.
  void launch(Operation operation, const BenchKey& key, std::size_t size, int index) {
    const std::size_t at = static_cast<std::size_t>(index) * size % large;
    const AesKey aes{reinterpret_cast<const std::uint32_t*>(key.round_keys.data()), key.rounds, kernel};
    if (operation == Operation::ctr)
      return launch_aes_ctr(aes, load_counter(counter), plain.data() + at, sealed.data() + at, size,
                            stream.get());
    const GcmJob job{.key = aes,
                     .powers = reinterpret_cast<const ghash::Powers*>(key.powers.data()),
                     .base_nonce = nonce,
                     .first_segment = at / segment_bytes,
                     .aad = {},
                     .sealed_bytes = sealed_size(size),
                     .masks = masks.data()};
    if (operation == Operation::seal)
      launch_gcm_seal(job, plain.data() + at, sealed.data() + sealed_size(at), stream.get());
    else
      launch_gcm_open(job, sealed.data() + sealed_size(at), opened.data() + at,
                      reinterpret_cast<std::uint32_t*>(first_bad.data()), stream.get());
  }

  // Gigabytes of plaintext a second: the median of `runs`.
  double rate(Operation operation, const BenchKey& key, std::size_t size, int launches) {
    std::array<double, runs> seconds{};
    for (int run = -warm_ups; run < runs; ++run) {
      TimedEvent start, end;
      start.record(stream);
      for (int i = 0; i < launches; ++i) launch(operation, key, size, i);
      end.record(stream);
      const double time = end.seconds_since(start);
      if (run >= 0) seconds[static_cast<std::size_t>(run)] = time;
    }
    std::ranges::sort(seconds);
    return static_cast<double>(size) * launches / seconds[runs / 2] / 1e9;
  }

  // What one launch over everything made must be what libcrypto makes; what is opened, what was sealed.
  bool is_exact(Operation operation, const BenchKey& key) {
    launch(operation, key, large, 0);
    stream.wait();
    if (operation == Operation::open) {
      std::uint32_t bad;
      check(cudaMemcpy(&bad, first_bad.data(), sizeof bad, cudaMemcpyDeviceToHost));
      return bad == 0xffffffff && copy_of(opened, large) == input;
    }
    std::vector<std::byte> expected(operation == Operation::ctr ? large : sealed_size(large));
    const std::unique_ptr<Lane> cpu = make_cpu_lane();
    cpu->start({.operation = operation,
                .key = &key.key,
                .in = input,
                .out = expected,
                .counter = counter,
                .base_nonce = nonce});
    cpu->finish();
    return copy_of(sealed, expected.size()) == expected;
  }

  static std::vector<std::byte> copy_of(const DeviceBuffer& buffer, std::size_t size) {
    std::vector<std::byte> bytes(size);
    check(cudaMemcpy(bytes.data(), buffer.data(), size, cudaMemcpyDeviceToHost));
    return bytes;
  }
};

}  // namespace

std::vector<Column> kernel_columns() {
  return {{"variant", 9}, {"key_bits"}, {"mode", 8}, {"bytes", 10}, {"launches"}, {"copies"}, {"gb_per_s"}};
}

void run_kernel_bench(Report& report) {
  struct Kernel {
    Operation operation;
    const char* name;
  };
  constexpr std::array kernels{Kernel{Operation::ctr, "ctr"}, Kernel{Operation::seal, "gcm seal"},
                               Kernel{Operation::open, "gcm open"}};
  struct Size {
    std::size_t bytes;
    int launches;
  };
  constexpr std::array sizes{Size{small, launches_of_small}, Size{large, 1}};
  Bench bench;
  report.expect(aes_kernels.size() * ciphers.size() * kernels.size() * sizes.size());
  for (const AesKernelInfo& variant : aes_kernels) {
    bench.kernel = variant.kernel;
    for (const CipherInfo& cipher : ciphers) {
      const BenchKey key(cipher);
      for (const Kernel& kernel : kernels) {
        if (!bench.is_exact(kernel.operation, key))
          throw LaneError(
              fmt::format("not exact on the device: {} {}-{}", variant.name, cipher.name, kernel.name));
        for (const auto [bytes, launches] : sizes)
          report.add({variant.name, 8 * cipher.key_bytes, kernel.name, bytes, launches, "no",
                      bench.rate(kernel.operation, key, bytes, launches)});
      }
    }
  }
}

}  // namespace gpuaes::cuda
