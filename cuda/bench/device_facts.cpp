#include "bench/device_facts_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <utility>
#include <vector>

#include "bench/data.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr std::size_t max_bytes = std::size_t{1} << 30;
constexpr int runs = 9;

void report_properties(const std::string& name, int device, Report& report) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device));
  const auto add = [&](const char* what, Cell value, Cell unit) {
    report.add({name, what, {}, std::move(value), std::move(unit)});
  };
  add("name", properties.name, {});
  add("compute capability", fmt::format("{}.{}", properties.major, properties.minor), {});
  add("multiprocessors", properties.multiProcessorCount, {});
  add("clock, at most", attribute(cudaDevAttrClockRate, device) / 1000, "MHz");
  add("memory clock, at most", attribute(cudaDevAttrMemoryClockRate, device) / 1000, "MHz");
  add("memory", properties.totalGlobalMem >> 20, "MiB");
  add("second-level cache", properties.l2CacheSize >> 20, "MiB");
  add("shared memory", properties.sharedMemPerMultiprocessor >> 10, "KiB a multiprocessor");
  add("registers", properties.regsPerMultiprocessor, "a multiprocessor");
  add("threads", properties.maxThreadsPerMultiProcessor, "a multiprocessor");
  add("copy engines", properties.asyncEngineCount, {});
}

// The runtime tells the address on the bus, and the system what is there; nothing in some virtual machines.
void report_link(const std::string& name, int device, Report& report) {
  std::array<char, 32> address{};
  check(cudaDeviceGetPCIBusId(address.data(), address.size(), device));
  std::string directory = std::string("/sys/bus/pci/devices/") + address.data() + "/";
  std::ranges::transform(directory, directory.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
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

// Copies inside the device, as the device's own clock and the host's see them: the medians.
Times time_copies(const DeviceBuffer& from, const DeviceBuffer& to, std::size_t size) {
  const Stream stream;
  const Event begin(cudaEventDefault), end(cudaEventDefault);
  std::vector<double> by_events, by_steady_clock;
  for (int run = -1; run < runs; ++run) {
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

// The two clocks differ by what a launch and a wait cost the host.
void report_copies(const std::string& name, Report& report) {
  const DeviceBuffer from(max_bytes), to(max_bytes);
  for (const std::size_t size : {std::size_t{64} << 10, std::size_t{16} << 20, max_bytes}) {
    const Times times = time_copies(from, to, size);
    report.add({name, "copy, by events", size, times.by_events * 1e6, "us"});
    report.add({name, "copy, by steady clock", size, times.by_steady_clock * 1e6, "us"});
    if (size == max_bytes)
      report.add({name, "inside, read and write", size, 2e-9 * max_bytes / times.by_events, "GB/s"});
  }
}

}  // namespace

void report_facts(const std::string& name, int device, Report& report) {
  check(cudaSetDevice(device));
  report_properties(name, device, report);
  report_copies(name, report);
  report_link(name, device, report);
}

}  // namespace gpuaes::cuda
