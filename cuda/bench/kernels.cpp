// gpuaes-bench kernels: the speed of each kernel, compared with the limits of the device.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "bench/benches.hpp"
#include "bench/cuda_requests.hpp"
#include "bench/limits.hpp"
#include "bench/reference.hpp"
#include "bench/subjects.hpp"
#include "bench/timing.hpp"
#include "lane/backends.hpp"

namespace gpuaes {
namespace {

using namespace cuda;

constexpr std::size_t streams = 4;
constexpr Runs timed{2, 9, 3, 0.2};
constexpr Runs tried{1, 3, 1, 0.02};  // to find the best of several shapes

class KernelBench {
 public:
  KernelBench(const KernelRequest& request, std::vector<Subject> subjects, BenchData& data, Report& report)
      : request_(request),
        data_(data),
        report_(report),
        reference_(data),
        limits_(data.limits()),
        subjects_(std::move(subjects)) {
    std::size_t works = 0;
    for (const Subject& subject : subjects_)
      for (const Cipher cipher : request.ciphers)
        works += static_cast<std::size_t>(
            std::ranges::count_if(request.modes, [&](KernelMode mode) { return subject.can(cipher, mode); }));
    report.expect(works * request.sizes.size() * request.copies.size());
    for (const Cipher cipher : request.ciphers) keys_.emplace(cipher, random_key(cipher));
  }

  void run() {
    for (const Subject& subject : subjects_)
      for (const Cipher cipher : request_.ciphers)
        for (const KernelMode mode : request_.modes)
          if (subject.can(cipher, mode)) run(subject, keys_.at(cipher), mode);
  }

 private:
  void run(const Subject& subject, const BenchKey& key, KernelMode mode) {
    const std::vector<std::unique_ptr<BenchKernel>> kernels = make_kernels(subject, key, mode);
    if (kernels.empty()) return;
    const KernelLimit limit = min_limit(limits_, subject.cost(key.key.cipher, mode));
    for (const std::size_t size : request_.sizes) {
      if (mode == KernelMode::open) seal_all(subject, key, size);
      for (const bool copies : request_.copies) {
        if (copies)
          report_with_copies(subject, key, fastest(kernels, size), size);
        else
          report_resident(subject, key, fastest(kernels, size), size, limit);
      }
      if (mode == KernelMode::open && !data_.all_opened())
        throw LaneError(fmt::format("not exact on the device: {}, {}, open, {} bytes", subject.name,
                                    info(key.key.cipher).name, size));
    }
  }

  // The subject in all its shapes, each with verified results. Empty if the device supports none.
  std::vector<std::unique_ptr<BenchKernel>> make_kernels(const Subject& subject, const BenchKey& key,
                                                         KernelMode mode) {
    std::vector<std::unique_ptr<BenchKernel>> kernels;
    for (const unsigned blocks : subject.blocks_per_thread()) {
      report_.cancel().check();
      try {
        kernels.push_back(
            std::make_unique<BenchKernel>(subject, mode, key, KernelShape{.blocks_per_thread = blocks}));
      } catch (const Error& error) {
        if (subject.chooses_shape()) throw;
        report_.skip(fmt::format("{}, {} blocks a thread: {}", subject.name, blocks, error.what()));
        continue;
      }
      reference_.check(subject, *kernels.back(), key, Reference::size_for(mode), streams_[0]);
      if (subject.chooses_shape())
        reference_.check(subject, *kernels.back(), key, data_.capacity(), streams_[0]);
    }
    return kernels;
  }

  // Seals the data as pieces of that size, for a bench that opens them.
  void seal_all(const Subject& subject, const BenchKey& key, std::size_t size) {
    const BenchKernel sealer(subject, KernelMode::seal, key);
    data_.begin_round();
    for (std::size_t i = 0; i < data_.pieces(KernelMode::seal, size); ++i)
      sealer.launch(data_.next(KernelMode::seal, size), streams_[0]);
    streams_[0].wait();
  }

  // The kernel with the best number of blocks per thread for launches of that size.
  const BenchKernel& fastest(const std::vector<std::unique_ptr<BenchKernel>>& kernels, std::size_t size) {
    if (kernels.size() == 1) return *kernels[0];
    std::vector<double> times;
    for (const auto& kernel : kernels) times.push_back(times_.resident(*kernel, size, tried));
    return *kernels[static_cast<std::size_t>(std::ranges::min_element(times) - times.begin())];
  }

  void report_resident(const Subject& subject, const BenchKey& key, const BenchKernel& kernel,
                       std::size_t size, const KernelLimit& limit) {
    const std::size_t launches = launches_of(size);
    const double rate = static_cast<double>(launches * size) / times_.resident(kernel, size, timed) / 1e9;
    report_.add({subject.name, info(key.key.cipher).name, info(kernel.mode()).name, size, launches, "no",
                 blocks_cell(kernel), rate, limit.name, limit.gb_per_s, rate / limit.gb_per_s,
                 kernel.registers(), kernel.local_bytes(), kernel.resident_warps()});
  }

  // The limit is the rate of the same copies without a kernel between them.
  void report_with_copies(const Subject& subject, const BenchKey& key, const BenchKernel& kernel,
                          std::size_t size) {
    const std::size_t used = std::min(streams, data_.pieces(kernel.mode(), size));
    const std::size_t launches = std::max(launches_of(size), 2 * used);
    const double bytes = static_cast<double>(launches * size);
    const auto rate_with = [&](const BenchKernel* between) {
      return bytes / times_.with_copies({between, kernel.mode(), size, used, launches}, timed) / 1e9;
    };
    const double rate = rate_with(&kernel);
    double& link = link_rates_[{size, kernel.mode()}];
    if (link == 0) link = rate_with(nullptr);
    report_.add({subject.name,
                 info(key.key.cipher).name,
                 info(kernel.mode()).name,
                 size,
                 launches,
                 "yes",
                 blocks_cell(kernel),
                 rate,
                 "link",
                 link,
                 rate / link,
                 {},
                 {},
                 {}});
  }

  static Cell blocks_cell(const BenchKernel& kernel) {
    return kernel.shape().blocks_per_thread == 0 ? Cell() : Cell(kernel.shape().blocks_per_thread);
  }

  const KernelRequest& request_;
  BenchData& data_;
  Report& report_;
  const Streams streams_{streams};
  LaunchTimes times_{data_, streams_, report_};
  Reference reference_;
  const DeviceLimits limits_;
  const std::vector<Subject> subjects_;
  std::map<Cipher, BenchKey> keys_;
  std::map<std::pair<std::size_t, KernelMode>, double> link_rates_;
};

}  // namespace

void run_kernel_bench(const Arguments& arguments) {
  KernelRequest request = parse_kernel_request(arguments);
  std::vector<Subject> subjects = choose_subjects(request);
  require_cuda_devices();
  Report report(arguments.form, {{"variant", 30},
                                 {"cipher", 10},
                                 {"mode", 11},
                                 {"bytes", 10},
                                 {"launches"},
                                 {"copies"},
                                 {"blocks_per_thread"},
                                 {"gb_per_s"},
                                 {"limit", 14},
                                 {"limit_gb_per_s"},
                                 {"share_of_limit", 0, 3},
                                 {"registers"},
                                 {"local_bytes"},
                                 {"resident_warps"}});
  const std::unique_ptr<BenchData> data = make_data(request.sizes, report);
  if (data == nullptr) throw LaneError("the device has no memory for any of these sizes");
  KernelBench(request, std::move(subjects), *data, report).run();
  report.finish();
}

}  // namespace gpuaes
