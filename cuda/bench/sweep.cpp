// gpuaes-bench sweep: finds the best launch shapes for this device.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "bench/benches.hpp"
#include "bench/subjects.hpp"
#include "bench/sweep.hpp"
#include "bench/timing.hpp"
#include "lane/backends.hpp"

namespace gpuaes {
namespace {

using namespace cuda;

// The device idles while a result is checked, and may lower its clocks, so there are many warm-up launches.
constexpr Runs resident_runs{20, 11, 3, 0.2};
constexpr Runs copied_runs{2, 9, 3, 0.2};

std::vector<KernelShape> shapes_of(const Subject& subject, Cipher cipher, std::size_t size) {
  std::vector<KernelShape> shapes;
  std::vector<unsigned> blocks = subject.blocks_per_thread();
  if (subject.chooses_shape()) {
    shapes.push_back({});
    blocks = sweep_blocks(subject.kernel_for(cipher)->ctr(cipher).blocks_per_thread, size,
                          static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount)));
  }
  for (const unsigned threads : sweep_threads)
    for (const unsigned each : blocks) shapes.push_back({threads, each});
  return shapes;
}

// Sweeps the kernel of a subject with a key.
class KernelSweep {
 public:
  KernelSweep(const Subject& subject, const BenchKey& key, std::size_t size, KernelTimer& timer,
              Report& report)
      : subject_(subject), key_(key), size_(size), timer_(timer), report_(report) {}

  void run() {
    const std::vector<SweepRate> rates = sweep_shapes();
    if (rates.empty()) return;
    const SweepRate& best = choose_fastest(rates);
    const unsigned streams = sweep_streams_of({best.threads, best.blocks_per_thread});
    report_.note(fmt::format("best of {}, {}: threads {}, blocks per thread {}, streams {} (0: own choice)",
                             subject_.name, info(key_.key.cipher).name, best.threads, best.blocks_per_thread,
                             streams));
  }

 private:
  // Rates relative to those of the first shape, which is the kernel's own if it has one. The filter's kernel
  // must use the same shape in all its modes, so the smallest gain counts.
  std::vector<SweepRate> sweep_shapes() {
    std::vector<SweepRate> rates;
    std::map<Operation, double> first;
    for (const KernelShape& shape : shapes_of(subject_, key_.key.cipher, size_)) {
      std::vector<double> gains;
      for (const Operation mode : {Operation::ctr, Operation::seal}) {
        if (!subject_.can(key_.key.cipher, mode)) continue;
        const std::unique_ptr<BenchKernel> kernel = try_shape(mode, shape);
        if (kernel == nullptr) continue;
        timer_.check(*kernel);
        timer_.check(*kernel, size_);
        const double rate = timer_.resident(*kernel, size_, resident_runs);
        add_row(*kernel, {}, rate);
        gains.push_back(rate / first.try_emplace(mode, rate).first->second);
      }
      if (!gains.empty())
        rates.push_back({shape.threads, shape.blocks_per_thread, 0, std::ranges::min(gains)});
    }
    return rates;
  }

  // Null if the kernel or the device does not support the shape.
  std::unique_ptr<BenchKernel> try_shape(Operation mode, const KernelShape& shape) {
    try {
      return std::make_unique<BenchKernel>(subject_, mode, key_, shape);
    } catch (const Error& error) {
      report_.skip(fmt::format("{}, {}, {} threads, {} blocks a thread: {}", subject_.name, name_of(mode),
                               shape.threads, shape.blocks_per_thread, error.what()));
      return nullptr;
    }
  }

  // The best number of streams in counter mode.
  unsigned sweep_streams_of(const KernelShape& shape) {
    const BenchKernel kernel(subject_, Operation::ctr, key_, shape);
    std::vector<SweepRate> rates;
    for (const unsigned streams : sweep_streams) {
      const std::size_t pieces = timer_.data().pieces(Operation::ctr, size_);
      if (streams > pieces) {
        report_.skip(fmt::format("{}, {} streams: there is data for {} launches at a time", subject_.name,
                                 streams, pieces));
        continue;
      }
      const double rate = timer_.with_copies(kernel, size_, streams, copied_runs);
      rates.push_back({shape.threads, shape.blocks_per_thread, streams, rate});
      add_row(kernel, streams, rate);
    }
    return choose_fastest(rates).streams;
  }

  void add_row(const BenchKernel& kernel, const Cell& streams, double gb_per_s) {
    report_.add({subject_.name, info(key_.key.cipher).name, name_of(kernel.mode()), size_,
                 kernel.shape().threads, kernel.shape().blocks_per_thread, streams, gb_per_s});
  }

  const Subject& subject_;
  const BenchKey& key_;
  const std::size_t size_;
  KernelTimer& timer_;
  Report& report_;
};

}  // namespace

void run_sweep_bench(const Arguments& arguments) {
  KernelRequest request = parse_sweep_request(arguments);
  const std::vector<Subject> subjects = choose_subjects(request);
  require_cuda_devices();
  Report report(arguments.cancel, arguments.form,
                {Column("variant", 30), "cipher", "mode", "bytes", "threads", "blocks_per_thread", "streams",
                 "gb_per_s"});
  BenchData::skip_large(request.sizes, report);
  KernelTimer timer(request.sizes.front(), sweep_streams.back(), report);
  for (const Subject& subject : subjects)
    for (const Cipher cipher : request.ciphers)
      if (subject.can(cipher, Operation::ctr))
        KernelSweep(subject, BenchKey(cipher), request.sizes.front(), timer, report).run();
  report.finish();
}

}  // namespace gpuaes
