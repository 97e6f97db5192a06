// gpuaes-bench keys: whether the time a kernel takes depends on the key.

#include <algorithm>
#include <array>
#include <deque>
#include <span>

#include "bench/benches.hpp"
#include "bench/subjects.hpp"
#include "bench/timing.hpp"
#include "lane/backends.hpp"

namespace gpuaes {
namespace {

using namespace cuda;

constexpr std::size_t series = 8;  // of each kind: with different keys, and with the same key
constexpr int rounds = 41;
constexpr int warm_ups = 3;
constexpr Runs once{0, 1, 1, 0};

BenchKey filled_key(Cipher cipher, std::byte with) {
  CipherKey key{cipher, Secret(info(cipher).key_bytes)};
  std::ranges::fill(key.bytes.bytes(), with);
  return BenchKey(std::move(key));
}

// All zeros, all ones, and random keys. The last key is for all series of the second kind.
std::deque<BenchKey> make_keys(Cipher cipher) {
  std::deque<BenchKey> keys;
  keys.push_back(filled_key(cipher, std::byte{0}));
  keys.push_back(filled_key(cipher, std::byte{0xff}));
  while (keys.size() < series + 1) keys.emplace_back(cipher);
  return keys;
}

// The difference between the smallest and the largest rate, in percent.
double spread(std::span<const double> rates) {
  const auto [min, max] = std::ranges::minmax(rates);
  return 100 * (max - min) / min;
}

// The median rate of each series. Series alternate and take turns starting a round, which spreads clock
// changes and similar effects over all of them.
std::array<double, 2 * series> measure(const std::deque<BenchKernel>& kernels,
                                       const std::deque<BenchKernel>& sealers, std::size_t size,
                                       KernelTimer& timer) {
  std::array<std::vector<double>, 2 * series> rates;
  for (int round = -warm_ups; round < rounds; ++round)
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(round + warm_ups)) % rates.size();
      const std::size_t key = std::min(turn, series);
      // A wrong tag takes another branch, so the data must have been sealed with the same key.
      if (!sealers.empty()) timer.seal_all(sealers[key], size);
      timer.data().begin_round();
      const double rate = timer.resident(kernels[key], size, once);
      if (round >= 0) rates[turn].push_back(rate);
    }
  std::array<double, 2 * series> medians{};
  std::ranges::transform(rates, medians.begin(), median);
  return medians;
}

void report_row(const Subject& subject, Cipher cipher, Operation mode, std::size_t size, KernelTimer& timer,
                Report& report) {
  const unsigned blocks = subject.blocks_per_thread().front();
  const std::deque<BenchKey> keys = make_keys(cipher);
  std::deque<BenchKernel> kernels, sealers;
  for (const BenchKey& key : keys) {
    timer.check(kernels.emplace_back(subject, mode, key, blocks));
    if (mode == Operation::open) sealers.emplace_back(subject, Operation::seal, key);
  }
  const std::array<double, 2 * series> rates = measure(kernels, sealers, size, timer);
  if (mode == Operation::open) timer.check_opened(kernels.front());
  const std::span differing = std::span(rates).first(series);
  report.add({subject.name, info(cipher).name, name_of(mode), size, series, rounds, rates[0], rates[1],
              median({differing.begin() + 2, differing.end()}), spread(differing),
              spread(std::span(rates).subspan(series))});
}

}  // namespace

void run_key_bench(const Arguments& arguments) {
  const KernelRequest request = parse_key_request(arguments);
  const std::vector<Subject> subjects = choose_subjects(request);
  require_cuda_devices();
  Report report(
      arguments.cancel, arguments.form,
      {Column("variant", 30), "cipher", Column("mode", 11), "bytes", "series", "runs", "zeros_gb_per_s",
       "ones_gb_per_s", "random_gb_per_s", "keys_spread_percent", "one_key_spread_percent"});
  const std::size_t size = request.sizes.front();
  KernelTimer timer(size, report);
  for (const Subject& subject : subjects)
    for (const Cipher cipher : request.ciphers)
      for (const Operation mode : request.modes)
        if (subject.can(cipher, mode)) report_row(subject, cipher, mode, size, timer, report);
  report.finish();
}

}  // namespace gpuaes
