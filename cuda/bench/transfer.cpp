// gpuaes-bench device and transfer: the copies that lanes make, together and one step at a time.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "bench/benches.hpp"
#include "lane/backends.hpp"
#include "pipeline/ring.hpp"
#include "runtime.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

using namespace cuda;

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t bytes_per_device = std::uint64_t{4} << 30;  // in a run
constexpr std::uint64_t max_chunks = 1 << 16;                       // per device, in a run
constexpr std::size_t runs = 5;
constexpr unsigned lane_buffers = 2;  // per stream

// One run, whose threads take the next chunk until there are no more.
struct Run {
  TransferSteps steps;
  std::uint64_t chunks;
  const FdSource* file;  // null if it is not read
  std::atomic<std::uint64_t> next = 0;
};

// Makes a device the current one, and returns it.
int make_current(int device) {
  check(cudaSetDevice(device));
  return device;
}

// A thread's stream, with two chunks in flight like a lane. It uses its buffers in host memory in turn.
class Transfer {
 public:
  Transfer(int device, std::size_t size, std::span<std::byte> memory)
      : device_(make_current(device)), size_(size), memory_(memory) {
    for (Slot& slot : slots_)
      check(cudaMemcpyAsync(slot.memory.data(), memory.data(), size, cudaMemcpyHostToDevice, stream_.get()));
    stream_.wait();
  }

  void move(Run& run) {
    check(cudaSetDevice(device_));
    std::size_t count = 0;
    for (std::uint64_t chunk; (chunk = run.next++) < run.chunks; ++count) {
      const Slot& slot = slots_[count % slots_.size()];
      if (count >= slots_.size()) slot.done.wait();
      move_chunk(run, chunk, memory_.subspan(count * size_ % memory_.size(), size_), slot);
    }
    stream_.wait();
  }

 private:
  struct Slot {
    explicit Slot(std::size_t size) : memory(size) {}
    DeviceBuffer memory;
    Event done;
  };

  void move_chunk(const Run& run, std::uint64_t chunk, std::span<std::byte> buffer, const Slot& slot) const {
    if (run.steps.read) {
      const std::uint64_t in_file = run.file->size().value() / size_;
      run.file->read_at(chunk % in_file * size_, buffer);
    }
    if (run.steps.in)
      check(cudaMemcpyAsync(slot.memory.data(), buffer.data(), size_, cudaMemcpyHostToDevice, stream_.get()));
    if (run.steps.out)
      check(cudaMemcpyAsync(buffer.data(), slot.memory.data(), size_, cudaMemcpyDeviceToHost, stream_.get()));
    slot.done.record(stream_);
  }

  int device_;
  std::size_t size_;
  std::span<std::byte> memory_;
  Stream stream_;
  std::array<Slot, cuda_jobs_per_lane> slots_{Slot(size_), Slot(size_)};
  IdleDevice idle_{device_};  // destroyed first: copies must end before their memory is freed
};

// The settings of a row. The devices are numbered from `first_device`.
struct Setup {
  TransferSteps steps;
  unsigned devices, streams, buffers;  // streams per device, buffers per stream
  std::size_t size;
  unsigned first_device = 0;

  std::size_t memory_bytes() const { return std::size_t{devices} * streams * buffers * size; }
};

struct Measured {
  double gb_per_s, cpu_s_per_gb;  // each byte counts once, however many steps
};

// Medians. `memory` is for all streams, `file` may be null.
Measured measure(const Setup& setup, std::span<std::byte> memory, const FdSource* file, Report& report) {
  const std::size_t each = setup.buffers * setup.size;
  std::deque<Transfer> transfers;
  for (unsigned i = 0; i < setup.devices * setup.streams; ++i)
    transfers.emplace_back(static_cast<int>(setup.first_device + i % setup.devices), setup.size,
                           memory.subspan(i * each, each));
  const std::uint64_t chunks = setup.devices * std::min(bytes_per_device / setup.size, max_chunks);
  const double gigabytes = static_cast<double>(chunks * setup.size) / 1e9;
  std::vector<double> rates, cpu;
  for (std::size_t i = 0; i <= runs; ++i) {
    report.cancel().check();
    Run run{setup.steps, chunks, file};
    const double cpu_begin = cpu_seconds();
    const Clock::time_point begin = Clock::now();
    std::vector<std::future<void>> threads;
    for (Transfer& transfer : transfers)
      threads.push_back(std::async(std::launch::async, &Transfer::move, &transfer, std::ref(run)));
    for (std::future<void>& thread : threads) thread.get();
    if (i == 0) continue;  // a warm-up
    rates.push_back(gigabytes / std::chrono::duration<double>(Clock::now() - begin).count());
    cpu.push_back((cpu_seconds() - cpu_begin) / gigabytes);
  }
  return {median(std::move(rates)), median(std::move(cpu))};
}

std::vector<Setup> setups_of(const TransferRequest& request, std::size_t devices) {
  std::vector<Setup> setups;
  for (const unsigned count : request.devices) {
    if (count > devices)
      throw LaneError(fmt::format("cannot use {}; this machine has {}", counted(count, "device"),
                                  counted(devices, "CUDA device")));
    for (const unsigned streams : request.streams)
      for (const std::size_t size : request.sizes)
        for (const TransferSteps& steps : request.steps)
          setups.push_back({steps, count, streams, lane_buffers, size});
  }
  return setups;
}

// Each direction on each device, then on 2, 4, ... and all devices together. The buffers of a device fit
// into the last-level cache when the filter's do.
std::vector<Setup> setups_of(std::span<const std::size_t> sizes, unsigned devices) {
  constexpr unsigned streams = 8, buffers = 4;
  std::vector<Setup> setups;
  const auto add = [&](unsigned first, unsigned count) {
    for (const std::size_t size : sizes)
      for (const TransferSteps& steps :
           {TransferSteps{.in = true}, TransferSteps{.out = true}, TransferSteps{.in = true, .out = true}})
        setups.push_back({steps, count, streams, buffers, size, first});
  };
  for (unsigned device = 0; device < devices; ++device) add(device, 1);
  for (unsigned count = 2; count < 2 * devices; count *= 2) add(0, std::min(count, devices));
  return setups;
}

// Random, because a link may compress data.
void fill(std::span<std::byte> memory) {
  constexpr std::size_t piece = 16 << 20;
  fill_random(memory.first(std::min(piece, memory.size())));
  for (std::size_t done = piece; done < memory.size(); done += piece)
    std::ranges::copy(memory.first(std::min(piece, memory.size() - done)),
                      memory.begin() + static_cast<std::ptrdiff_t>(done));
}

// Calls report_row(setup, measured) for each setup, with memory that is allocated and pinned as in the
// filter.
template <class ReportRow>
void measure_all(std::span<const Setup> setups, const FdSource* file, Report& report,
                 const ReportRow& report_row) {
  const Setup& largest = *std::ranges::max_element(setups, {}, &Setup::memory_bytes);
  const Ring ring(1, largest.memory_bytes(), 0, true);
  check(cudaSetDevice(0));  // pinning opens a device
  const PinnedRegion pinned(ring.memory());
  fill(ring.memory());
  for (const Setup& setup : setups) report_row(setup, measure(setup, ring.memory(), file, report));
  report.finish();
}

}  // namespace

void run_device_bench(const Arguments& arguments) {
  const std::vector<std::size_t> sizes = parse_copy_sizes(arguments);
  const std::vector<Setup> setups = setups_of(sizes, static_cast<unsigned>(require_cuda_devices()));
  Report report(arguments.cancel, arguments.form, {"device", Column("what", 22), "bytes", "value", "unit"});
  measure_all(setups, nullptr, report, [&](const Setup& setup, const Measured& measured) {
    report.add({setup.devices == 1 ? fmt::format("cuda:{}", setup.first_device)
                                   : fmt::format("{} devices", setup.devices),
                !setup.steps.out  ? "to device"
                : !setup.steps.in ? "from device"
                                  : "both at once, each way",
                setup.size, measured.gb_per_s, "GB/s"});
  });
}

void run_transfer_bench(const Arguments& arguments) {
  const TransferRequest request = parse_transfer_request(arguments);
  std::optional<FdSource> file;
  if (std::ranges::any_of(request.steps, &TransferSteps::read))
    file.emplace(open_input_file(arguments.cancel));
  if (file && file->size() < std::ranges::max(request.sizes))
    throw IoError("standard input is shorter than a chunk");
  const std::vector<Setup> setups = setups_of(request, require_cuda_devices());
  Report report(arguments.cancel, arguments.form,
                {Column("steps", 11), "devices", "streams", "bytes", "ring_mib", "gb_per_s", "cpu_s_per_gb"});
  measure_all(setups, file ? &*file : nullptr, report, [&](const Setup& setup, const Measured& measured) {
    report.add({to_string(setup.steps), setup.devices, setup.streams, setup.size, setup.memory_bytes() >> 20,
                measured.gb_per_s, measured.cpu_s_per_gb});
  });
}

}  // namespace gpuaes
