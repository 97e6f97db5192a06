// gpuaes-bench device: the maximum rates of links between devices and the host.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "bench/benches.hpp"
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
  Report report(arguments.form, {{"device", 9}, {"what", 22}, {"bytes", 9}, {"value", 8}, {"unit"}});
  report_devices(sizes, ring.memory(), report);
  report.finish();
}

}  // namespace gpuaes
