#include "bench/device_bench.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "bench/device_facts_bench.hpp"
#include "keys/kdf.hpp"
#include "lane/backends.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t streams = 4;  // in each direction: a copy waits behind each that is under way
constexpr std::size_t bytes_of_run = std::size_t{2} << 30;  // in each direction
constexpr std::size_t max_copies = 2048;
constexpr int runs = 5;

struct Ways {
  bool in;
  bool out;
};

// A device, with what it copies to and from. One thread at a time uses it.
class Link {
 public:
  Link(int device, std::size_t max_bytes, std::span<std::byte> from, std::span<std::byte> to)
      : device_((check(cudaSetDevice(device)), device)), from_(from), to_(to) {
    fill_random(from);
    for (std::size_t i = 0; i < streams; ++i) {
      pairs_.emplace_back(max_bytes);
      // What comes back is random too: a link may compress, or a device know zeros.
      check(cudaMemcpy(pairs_.back().outgoing.data(), from_.data(), max_bytes, cudaMemcpyHostToDevice));
    }
  }

  int device() const { return device_; }

  // Moves so many copies of `size` bytes, one behind the other in each stream, and waits for them.
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

  // The first to go: what the device still copies ends before its memory goes.
  struct Idle {
    int device;
    ~Idle() {
      cudaSetDevice(device);
      cudaDeviceSynchronize();
    }
  };

  int device_;
  std::span<const std::byte> from_;
  std::span<std::byte> to_;
  std::deque<Pair> pairs_;
  Idle idle_{device_};
};

using Links = std::vector<const Link*>;

// Gigabytes a second in each direction that is used, of all links at once: the median of `runs`.
double rate(const Links& links, Ways ways, std::size_t size) {
  const std::size_t copies = std::clamp(bytes_of_run / size, streams, max_copies);
  std::array<double, runs> seconds{};
  for (int run = -1; run < runs; ++run) {
    const Clock::time_point start = Clock::now();
    std::vector<std::future<void>> moves;
    for (const Link* const link : links)
      moves.push_back(std::async(std::launch::async, &Link::move, link, ways, size, copies));
    for (std::future<void>& move : moves) move.get();
    if (run >= 0)
      seconds[static_cast<std::size_t>(run)] = std::chrono::duration<double>(Clock::now() - start).count();
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

}  // namespace

std::vector<Column> device_columns() {
  return {{"device", 9}, {"what", 22}, {"bytes", 9}, {"value", 14}, {"unit"}};
}

void run_device_bench(std::span<const std::size_t> copy_sizes, std::span<std::byte> memory, Report& report) {
  check(cudaSetDevice(0));                               // pinning opens a device
  madvise(memory.data(), memory.size(), MADV_HUGEPAGE);  // before the first touch, as lanes do
  const PinnedRegion pinned(memory);
  std::deque<Link> links;
  Links all;
  const std::size_t count = count_cuda_devices();
  const std::size_t max_bytes = std::ranges::max(copy_sizes);
  const std::size_t share = host_buffers * max_bytes;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(&links.emplace_back(static_cast<int>(i), max_bytes, memory.subspan(i * share, share),
                                      memory.subspan((count + i) * share, share)));
  for (const Link* const link : all) {
    const std::string name = fmt::format("cuda:{}", link->device());
    for (const std::size_t size : copy_sizes) report_rates(name, {link}, size, report);
    report_facts(name, link->device(), report);  // behind: a link that has rested says that it is slower
  }
  for (std::size_t devices = 2; devices < 2 * all.size(); devices *= 2) {
    const std::size_t together = std::min(devices, all.size());
    for (const std::size_t size : copy_sizes)
      report_rates(fmt::format("{} devices", together), {all.begin(), all.begin() + together}, size, report);
  }
}

}  // namespace gpuaes::cuda
