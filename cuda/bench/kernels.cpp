// gpuaes-bench kernels and limits: the speed of each kernel, compared with the limits of the device.

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "base/error.hpp"
#include "bench/benches.hpp"
#include "bench/cost.hpp"
#include "bench/subjects.hpp"
#include "bench/timing.hpp"
#include "lane/backends.hpp"

namespace gpuaes {
namespace {

using namespace cuda;

constexpr Runs timed{2, 9, 5, 0.2};
constexpr Runs tried{1, 3, 1, 0.02};  // to find the best of several shapes

Operations limits_of(const BenchData& data) {
  return measure_limits(data.piece(Operation::ctr, 0, data.capacity()).in,
                        data.piece(Operation::open, 0, data.capacity()).out, data.capacity());
}

// The subject in all its shapes, each with verified results. Empty if the device supports none.
std::deque<BenchKernel> make_kernels(const Subject& subject, const BenchKey& key, Operation mode,
                                     KernelTimer& timer, Report& report) {
  std::deque<BenchKernel> kernels;
  for (const unsigned blocks : subject.blocks_per_thread()) {
    report.cancel().check();
    try {
      kernels.emplace_back(subject, mode, key, blocks);
    } catch (const Error& error) {
      if (subject.chooses_shape()) throw;
      report.skip(fmt::format("{}, {} blocks a thread: {}", subject.name, blocks, error.what()));
      continue;
    }
    timer.check(kernels.back());
    if (subject.chooses_shape()) timer.check(kernels.back(), timer.data().capacity());
  }
  return kernels;
}

// The kernel with the best number of blocks per thread for launches of that size.
const BenchKernel& fastest(const std::deque<BenchKernel>& kernels, std::size_t size, KernelTimer& timer) {
  if (kernels.size() == 1) return kernels.front();
  std::vector<double> rates;
  for (const BenchKernel& kernel : kernels) rates.push_back(timer.resident(kernel, size, tried));
  return kernels[static_cast<std::size_t>(std::ranges::max_element(rates) - rates.begin())];
}

void report_rows(const Subject& subject, const BenchKey& key, Operation mode, const KernelRequest& request,
                 const Operations& limits, KernelTimer& timer, Report& report) {
  const std::deque<BenchKernel> kernels = make_kernels(subject, key, mode, timer, report);
  if (kernels.empty()) return;
  const Cipher cipher = key.key.cipher;
  const KernelLimit limit = min_limit(limits, subject.cost(cipher, mode));
  for (const std::size_t size : request.sizes) {
    if (mode == Operation::open) timer.seal_all(BenchKernel(subject, Operation::seal, key), size);
    const BenchKernel& best = fastest(kernels, size, timer);
    const unsigned blocks = best.blocks_per_thread();
    const double rate = timer.resident(best, size, timed);
    report.add({subject.name, info(cipher).name, name_of(mode), size, blocks == 0 ? Cell() : Cell(blocks),
                rate, limit.name, limit.gb_per_s, rate / limit.gb_per_s, best.use().registers,
                best.use().local_bytes, best.resident_warps()});
    if (mode == Operation::open) timer.check_opened(best);
  }
}

}  // namespace

void run_kernel_bench(const Arguments& arguments) {
  KernelRequest request = parse_kernel_request(arguments);
  const std::vector<Subject> subjects = choose_subjects(request);
  require_cuda_devices();
  Report report(
      arguments.cancel, arguments.form,
      {Column("variant", 30), "cipher", "mode", "bytes", "blocks_per_thread", "gb_per_s", Column("limit", 14),
       "limit_gb_per_s", "share_of_limit", "registers", "local_bytes", "resident_warps"});
  BenchData::skip_large(request.sizes, report);
  KernelTimer timer(std::ranges::max(request.sizes), report);
  const Operations limits = limits_of(timer.data());
  for (const Subject& subject : subjects)
    for (const Cipher cipher : request.ciphers) {
      const BenchKey key(cipher);
      for (const Operation mode : request.modes)
        if (subject.can(cipher, mode)) report_rows(subject, key, mode, request, limits, timer, report);
    }
  report.finish();
}

void run_limit_bench(const Arguments& arguments) {
  require_cuda_devices();
  Report report(arguments.cancel, arguments.form, {Column("what", 44), "value", "unit"});
  const Operations limits = limits_of(BenchData());
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
