// gpuaes-bench device and limits: properties of devices, and the maximum rates of devices and their links to
// the host.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <fstream>
#include <future>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/benches.hpp"
#include "bench/cuda_requests.hpp"
#include "bench/data.hpp"
#include "bench/timing.hpp"
#include "keys/kdf.hpp"
#include "lane/backends.hpp"
#include "pipeline/ring.hpp"
#include "runtime.hpp"

namespace gpuaes {
namespace {

using namespace cuda;

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t streams = 4;  // in each direction: copies in one stream wait for each other
constexpr std::size_t bytes_of_run = std::size_t{2} << 30;  // in each direction
constexpr std::size_t max_copies = 2048;
constexpr int runs = 5;

// Per device and direction: the number of ring chunks for a device's lanes (lane/plan.cpp). The buffers fit
// into the last-level cache exactly when the filter's do.
constexpr std::size_t host_buffers = 28;

constexpr std::size_t inside_bytes = std::size_t{1} << 30;  // maximum size of copies inside a device
constexpr int inside_runs = 9;

struct Ways {
  bool in;
  bool out;
};

// A device and the host memory that it copies to and from. Used by one thread at a time.
class Link {
 public:
  Link(int device, std::size_t max_bytes, std::span<std::byte> from, std::span<std::byte> to)
      : device_((check(cudaSetDevice(device)), device)), from_(from), to_(to) {
    fill_random(from);
    for (std::size_t i = 0; i < streams; ++i) {
      pairs_.emplace_back(max_bytes);
      // Also random in this direction: a link may compress data, and a device may treat zeros differently.
      check(cudaMemcpy(pairs_.back().outgoing.data(), from_.data(), max_bytes, cudaMemcpyHostToDevice));
    }
  }

  int device() const { return device_; }

  // Performs `copies` copies of `size` bytes, back to back in each stream, and waits for them.
  void move(Ways ways, std::size_t size, std::size_t copies) const {
    check(cudaSetDevice(device_));
    for (std::size_t i = 0; i < copies; ++i) {
      const Pair& pair = pairs_[i % streams];
      const std::size_t at = i % host_buffers * size;
      if (ways.in)
        check(cudaMemcpyAsync(pair.incoming.data(), from_.data() + at, size, cudaMemcpyHostToDevice,
                              pair.in.get()));
      if (ways.out)
        check(cudaMemcpyAsync(to_.data() + at, pair.outgoing.data(), size, cudaMemcpyDeviceToHost,
                              pair.out.get()));
    }
    for (const Pair& pair : pairs_) {
      pair.in.wait();
      pair.out.wait();
    }
  }

 private:
  struct Pair {
    explicit Pair(std::size_t bytes) : incoming(bytes), outgoing(bytes) {}
    DeviceBuffer incoming, outgoing;
    Stream in, out;
  };

  int device_;
  std::span<const std::byte> from_;
  std::span<std::byte> to_;
  std::deque<Pair> pairs_;
  IdleDevice idle_{device_};  // destroyed first: copies must end before their memory is freed
};

using Links = std::vector<const Link*>;

// The rate of all links together, in GB/s in each direction used: the median of `runs`.
double rate(const Links& links, Ways ways, std::size_t size) {
  const std::size_t copies = std::clamp(bytes_of_run / size, streams, max_copies);
  std::array<double, runs> seconds{};
  for (int run = -1; run < runs; ++run) {
    const Clock::time_point start = Clock::now();
    std::vector<std::future<void>> moves;
    for (const Link* const link : links)
      moves.push_back(std::async(std::launch::async, &Link::move, link, ways, size, copies));
    for (std::future<void>& move : moves) move.get();
    if (run >= 0) seconds[static_cast<std::size_t>(run)] = Seconds(Clock::now() - start).count();
  }
  std::ranges::sort(seconds);
  return static_cast<double>(links.size() * copies * size) / seconds[runs / 2] / 1e9;
}

void report_rates(const std::string& name, const Links& links, std::size_t size, Report& report) {
  const auto add = [&](const char* what, Ways ways) {
    report.add({name, what, size, rate(links, ways, size), "GB/s"});
  };
  add("to device", {.in = true, .out = false});
  add("from device", {.in = false, .out = true});
  add("both at once, each way", {.in = true, .out = true});
}

// Device properties -----------------------------------------------------------------------------

void report_properties(const std::string& name, int device, Report& report) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device));
  const auto add = [&](const char* what, Cell value, Cell unit) {
    report.add({name, what, {}, std::move(value), std::move(unit)});
  };
  add("name", properties.name, {});
  add("compute capability", fmt::format("{}.{}", properties.major, properties.minor), {});
  add("multiprocessors", properties.multiProcessorCount, {});
  add("maximum clock", attribute(cudaDevAttrClockRate, device) / 1000, "MHz");
  add("maximum memory clock", attribute(cudaDevAttrMemoryClockRate, device) / 1000, "MHz");
  add("memory", properties.totalGlobalMem >> 20, "MiB");
  add("L2 cache", properties.l2CacheSize >> 20, "MiB");
  add("shared memory", properties.sharedMemPerMultiprocessor >> 10, "KiB per multiprocessor");
  add("registers", properties.regsPerMultiprocessor, "per multiprocessor");
  add("threads", properties.maxThreadsPerMultiProcessor, "per multiprocessor");
  add("copy engines", properties.asyncEngineCount, {});
}

// The CUDA runtime knows the device's bus address; Linux describes the link. Some virtual machines hide it.
void report_link(const std::string& name, int device, Report& report) {
  const std::string directory = fmt::format("/sys/bus/pci/devices/{}/", pci_address(device));
  for (const char* const what :
       {"current_link_speed", "current_link_width", "max_link_speed", "max_link_width", "numa_node"}) {
    std::string line;
    std::ifstream file(directory + what);
    report.add({name, what, {}, std::getline(file, line) ? Cell(line) : Cell(), {}});
  }
}

struct Times {
  double by_events, by_steady_clock;  // seconds
};

// Median times of copies inside the device, by the device's clock and by the host's.
Times time_copies(const DeviceBuffer& from, const DeviceBuffer& to, std::size_t size) {
  const Stream stream;
  const Event begin(cudaEventDefault), end(cudaEventDefault);
  std::vector<double> by_events, by_steady_clock;
  for (int run = -1; run < inside_runs; ++run) {
    const Clock::time_point start = Clock::now();
    begin.record(stream);
    check(cudaMemcpyAsync(to.data(), from.data(), size, cudaMemcpyDeviceToDevice, stream.get()));
    end.record(stream);
    stream.wait();
    const Seconds seconds = Clock::now() - start;
    float milliseconds;
    check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()));
    if (run < 0) continue;
    by_events.push_back(milliseconds / 1000.0);
    by_steady_clock.push_back(seconds.count());
  }
  return {median(std::move(by_events)), median(std::move(by_steady_clock))};
}

// The difference between the two clocks is the host's cost of a launch and a wait.
void report_copies(const std::string& name, Report& report) {
  const DeviceBuffer from(inside_bytes), to(inside_bytes);
  for (const std::size_t size : {std::size_t{64} << 10, std::size_t{16} << 20, inside_bytes}) {
    const Times times = time_copies(from, to, size);
    report.add({name, "copy, by events", size, times.by_events * 1e6, "us"});
    report.add({name, "copy, by steady clock", size, times.by_steady_clock * 1e6, "us"});
    if (size == inside_bytes)
      report.add({name, "inside, read and write", size, 2e-9 * inside_bytes / times.by_events, "GB/s"});
  }
}

void report_facts(const std::string& name, int device, Report& report) {
  check(cudaSetDevice(device));
  report_properties(name, device, report);
  report_copies(name, report);
  report_link(name, device, report);
}

// Reports copies of each size for each device, then for 2, 4, ... and all devices together. For each device,
// `memory` holds `host_buffers` buffers of the largest size to copy from, then the same number to copy to. It
// is pinned here as lanes pin the ring.
void report_devices(std::span<const std::size_t> copy_sizes, std::span<std::byte> memory, Report& report) {
  check(cudaSetDevice(0));  // pinning opens a device
  const PinnedRegion pinned(memory);
  std::deque<Link> links;
  Links all;
  const std::size_t count = count_cuda_devices();
  const std::size_t max_bytes = std::ranges::max(copy_sizes);
  const std::size_t device_bytes = host_buffers * max_bytes;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(&links.emplace_back(static_cast<int>(i), max_bytes,
                                      memory.subspan(i * device_bytes, device_bytes),
                                      memory.subspan((count + i) * device_bytes, device_bytes)));
  for (const Link* const link : all) {
    const std::string name = fmt::format("cuda:{}", link->device());
    for (const std::size_t size : copy_sizes) report_rates(name, {link}, size, report);
    report_facts(name, link->device(), report);  // last: an idle link reports a lower speed
  }
  for (std::size_t devices = 2; devices < 2 * all.size(); devices *= 2) {
    const std::size_t together = std::min(devices, all.size());
    for (const std::size_t size : copy_sizes)
      report_rates(fmt::format("{} devices", together), {all.begin(), all.begin() + together}, size, report);
  }
}

}  // namespace

// Uses the memory of a ring, as the filter does.
void run_device_bench(const Arguments& arguments) {
  const std::vector<std::size_t> sizes = parse_copy_sizes(arguments);
  const std::size_t largest = std::ranges::max(sizes);
  const Ring ring(require_cuda_devices() * host_buffers, largest, largest, true);
  Report report(arguments.form, {{"device", 9}, {"what", 22}, {"bytes", 9}, {"value", 14}, {"unit"}});
  report_devices(sizes, ring.memory(), report);
  report.finish();
}

void run_limit_bench(const Arguments& arguments) {
  require_cuda_devices();
  Report report(arguments.form, {{"what", 44}, {"value", 9, 4}, {"unit", 7}});
  const DeviceLimits limits = BenchData(BenchData::min_bytes).limits();
  const auto add = [&](const char* what, double rate, const char* unit) {
    report.add({what, rate / 1e12, unit});
  };
  add("device memory, read and written", limits.memory_bytes, "TB/s");
  add("logic of three words", limits.logic, "10^12/s");
  add("multiplications of two words to two", limits.multiplications, "10^12/s");
  add("words between threads of a warp", limits.shuffles, "10^12/s");
  add("words of shared memory, a bank per thread", limits.loads_of_own_bank, "10^12/s");
  add("words of shared memory, any of 256", limits.loads_of_256_words, "10^12/s");
  add("bytes of shared memory, any of 256", limits.loads_of_256_bytes, "10^12/s");
  add("16 bytes of shared memory, any of 256", limits.loads_of_256_blocks, "10^12/s");
  report.finish();
}

}  // namespace gpuaes
