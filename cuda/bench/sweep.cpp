// gpuaes-bench sweep: finds the best launch shapes for this device.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "bench/benches.hpp"
#include "bench/cuda_requests.hpp"
#include "bench/reference.hpp"
#include "bench/subjects.hpp"
#include "bench/sweep.hpp"
#include "bench/timing.hpp"
#include "lane/backends.hpp"
#include "lane/plan.hpp"

namespace gpuaes {
namespace {

using namespace cuda;

// The device idles while a result is checked, and may lower its clocks, so there are many warm-up launches.
constexpr Runs resident_runs{20, 11, 3, 0.2};
constexpr Runs copied_runs{2, 9, 3, 0.2};
constexpr KernelMode copied_mode = KernelMode::ctr;

cudaDeviceProp current_device() {
  int device;
  cudaDeviceProp properties;
  check(cudaGetDevice(&device));
  check(cudaGetDeviceProperties(&properties, device));
  return properties;
}

// The number of streams that the filter uses for a file.
unsigned filter_streams() {
  const Workload workload{.parallel_bytes = std::uint64_t{1} << 30};
  return plan_lanes({.named = {{Backend::cuda, 0, {}}}}, workload, this_machine(workload))
      .first.at(0)
      .count.value();
}

struct SweepShape {
  KernelShape shape;
  // Whether a fixed number of CUDA blocks loop over the data; otherwise the grid covers the data. Kernels
  // that choose their shape loop if the number of cipher blocks per thread is left to them.
  bool grid_stride;
};

std::vector<SweepShape> shapes_of(const Subject& subject, Cipher cipher, std::size_t size,
                                  const cudaDeviceProp& device) {
  std::vector<SweepShape> shapes;
  if (subject.chooses_shape()) shapes.push_back({{}, true});
  const std::vector<unsigned> blocks =
      subject.chooses_shape() ? sweep_blocks(subject.facts(cipher, KernelMode::ctr).blocks_per_thread, size,
                                             static_cast<unsigned>(device.multiProcessorCount))
                              : subject.blocks_per_thread();
  for (const unsigned threads : sweep_threads)
    for (const unsigned each : blocks)
      for (const bool grid_stride : {true, false})
        if (!subject.chooses_shape() || grid_stride == (each == 0))
          shapes.push_back({{threads, each}, grid_stride});
  return shapes;
}

// The filter's kernel must use the same shape in all its modes.
std::vector<KernelMode> modes_of(const Subject& subject, Cipher cipher) {
  if (subject.can(cipher, KernelMode::seal)) return {KernelMode::ctr, KernelMode::seal};
  return {KernelMode::ctr};
}

class SweepBench {
 public:
  SweepBench(const KernelRequest& request, std::vector<Subject> subjects, BenchData& data, Report& report)
      : request_(request),
        size_(request.sizes.front()),
        data_(data),
        report_(report),
        subjects_(std::move(subjects)),
        times_(data, streams_, report),
        reference_(data) {
    for_each([&](const Subject& subject, Cipher cipher) {
      rows_ += shapes_of(subject, cipher, size_, device_).size() * modes_of(subject, cipher).size() +
               stream_counts_.size();
    });
    report_.expect(rows_);
    for (const Cipher cipher : request.ciphers) keys_.emplace(cipher, random_key(cipher));
  }

  void run() {
    for_each([&](const Subject& subject, Cipher cipher) { sweep(subject, keys_.at(cipher)); });
    report_.cancel().check();
  }

 private:
  template <class Do>
  void for_each(const Do& what) const {
    for (const Subject& subject : subjects_)
      for (const Cipher cipher : request_.ciphers)
        if (subject.can(cipher, KernelMode::ctr)) what(subject, cipher);
  }

  void sweep(const Subject& subject, const BenchKey& key) {
    std::vector<ShapeRate> rates;
    // The rates in the kernel's default shape, which shapes_of() lists first if there is one.
    std::map<KernelMode, double> own;
    const Cipher cipher = key.key.cipher;
    for (const SweepShape& each : shapes_of(subject, cipher, size_, device_)) {
      std::vector<double> of_modes;  // relative to the default shape
      for (const KernelMode mode : modes_of(subject, cipher))
        if (const std::optional<double> rate = measure(subject, mode, key, each)) {
          own.try_emplace(mode, subject.chooses_shape() ? *rate : 1);
          of_modes.push_back(*rate / own.at(mode));
        }
      if (!of_modes.empty() && (subject.chooses_shape() || each.grid_stride))
        rates.push_back({each.shape.threads, each.shape.blocks_per_thread, std::ranges::min(of_modes)});
    }
    if (rates.empty()) {
      leave_out(stream_counts_.size());
      return;
    }
    const ShapeRate& fastest = choose_shape(rates);
    const KernelShape best{fastest.threads, fastest.blocks_per_thread};
    const unsigned streams = sweep_streams_of(subject, key, best);
    report_.note(
        fmt::format("best of {}, {}: threads {}, blocks per thread {}, streams {} (0: as the filter)",
                    subject.name, info(cipher).name, best.threads, best.blocks_per_thread, streams));
  }

  // In GB/s. Empty if the kernel or the device does not support the shape.
  std::optional<double> measure(const Subject& subject, KernelMode mode, const BenchKey& key,
                                const SweepShape& each) {
    report_.cancel().check();
    const std::unique_ptr<BenchKernel> kernel = try_shape(subject, mode, key, each);
    if (kernel == nullptr) return std::nullopt;
    for (const std::size_t size : {Reference::size_for(mode), size_})
      reference_.check(subject, *kernel, key, size, streams_[0]);
    const double seconds = times_.resident(*kernel, size_, resident_runs);
    const double rate = static_cast<double>(launches_of(size_) * size_) / seconds / 1e9;
    add_row(subject, mode, key, each, {}, rate);
    return rate;
  }

  std::unique_ptr<BenchKernel> try_shape(const Subject& subject, KernelMode mode, const BenchKey& key,
                                         const SweepShape& each) {
    const KernelShape& shape = each.shape;
    try {
      return std::make_unique<BenchKernel>(subject, mode, key, shape, each.grid_stride);
    } catch (const Error& error) {
      report_.skip(fmt::format("{}, {}, {} threads, {} blocks a thread: {}", subject.name, info(mode).name,
                               shape.threads, shape.blocks_per_thread, error.what()));
      leave_out(1);
      return nullptr;
    }
  }

  // The best number of streams.
  unsigned sweep_streams_of(const Subject& subject, const BenchKey& key, const KernelShape& shape) {
    const BenchKernel kernel(subject, copied_mode, key, shape);
    std::vector<StreamsRate> rates;
    for (const unsigned count : stream_counts_) {
      if (count > data_.pieces(copied_mode, size_)) {
        report_.skip(fmt::format("{}, {} streams: there is data for {} launches at a time", subject.name,
                                 count, data_.pieces(copied_mode, size_)));
        leave_out(1);
        continue;
      }
      const std::size_t launches = std::max<std::size_t>(launches_of(size_), 2 * count);
      const double seconds = times_.with_copies({&kernel, copied_mode, size_, count, launches}, copied_runs);
      rates.push_back({count, static_cast<double>(launches * size_) / seconds / 1e9});
      const bool grid_stride = !subject.chooses_shape() || shape.blocks_per_thread == 0;
      add_row(subject, copied_mode, key, {shape, grid_stride}, count, rates.back().rate);
    }
    return choose_streams(rates, filter_streams_);
  }

  void add_row(const Subject& subject, KernelMode mode, const BenchKey& key, const SweepShape& each,
               const Cell& streams, double gb_per_s) {
    report_.add({subject.name, info(key.key.cipher).name, info(mode).name, size_, each.shape.threads,
                 each.shape.blocks_per_thread, each.grid_stride ? "yes" : "no", streams, gb_per_s});
  }

  void leave_out(std::size_t rows) { report_.expect(rows_ -= rows); }

  const KernelRequest& request_;
  const std::size_t size_;
  BenchData& data_;
  Report& report_;
  const cudaDeviceProp device_ = current_device();
  const unsigned filter_streams_ = filter_streams();
  const std::vector<unsigned> stream_counts_ = sweep_streams_with(filter_streams_);
  const std::vector<Subject> subjects_;
  const Streams streams_{stream_counts_.back()};
  LaunchTimes times_;
  Reference reference_;
  std::map<Cipher, BenchKey> keys_;
  std::size_t rows_ = 0;
};

}  // namespace

void run_sweep_bench(const Arguments& arguments) {
  KernelRequest request = parse_sweep_request(arguments);
  std::vector<Subject> subjects = choose_subjects(request);
  require_cuda_devices();
  Report report(arguments.form, {{"variant", 30},
                                 {"cipher", 10},
                                 {"mode", 11},
                                 {"bytes", 10},
                                 {"threads"},
                                 {"blocks_per_thread"},
                                 {"grid_stride"},
                                 {"streams"},
                                 {"gb_per_s"}});
  const std::unique_ptr<BenchData> data = make_data(request.sizes, report);
  if (data == nullptr) throw LaneError("the device has no memory for launches of that size");
  SweepBench(request, std::move(subjects), *data, report).run();
  report.finish();
}

}  // namespace gpuaes
