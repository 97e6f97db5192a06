// gpuaes-bench keys: whether the time a kernel takes depends on the key.

#include <algorithm>
#include <array>
#include <deque>

#include "base/error.hpp"
#include "bench/benches.hpp"
#include "bench/cuda_requests.hpp"
#include "bench/reference.hpp"
#include "bench/subjects.hpp"
#include "bench/timing.hpp"
#include "lane/backends.hpp"

namespace gpuaes {
namespace {

using namespace cuda;

constexpr std::size_t series = 8;  // of each kind: with different keys, and with the same key
constexpr int rounds = 41;
constexpr int warm_ups = 3;

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
  while (keys.size() < series + 1) keys.push_back(random_key(cipher));
  return keys;
}

// The difference between the smallest and the largest median, in percent.
double spread(std::span<const double> medians) {
  const auto [min, max] = std::ranges::minmax(medians);
  return 100 * (max - min) / min;
}

class KeyBench {
 public:
  KeyBench(std::size_t size, Report& report) : size_(size), data_(size), report_(report) {}

  void run(const Subject& subject, Cipher cipher, KernelMode mode) {
    const std::deque<BenchKey> keys = make_keys(cipher);
    std::deque<BenchKernel> kernels;
    for (const BenchKey& key : keys) {
      kernels.emplace_back(subject, mode, key,
                           KernelShape{.blocks_per_thread = subject.blocks_per_thread().front()});
      Reference(data_).check(subject, kernels.back(), key, Reference::size_for(mode), streams_[0]);
    }
    const std::vector<double> medians = time(subject, keys, kernels);
    if (mode == KernelMode::open && !data_.all_opened())
      throw LaneError("a tag was wrong of what had been sealed before");
    const auto rate = [&](double seconds) {
      return static_cast<double>(size_ * launches_of(size_)) / seconds / 1e9;
    };
    const std::span differing = std::span(medians).first(series);
    report_.add({subject.name, info(cipher).name, info(mode).name, size_, series, rounds, rate(medians[0]),
                 rate(medians[1]), rate(median({differing.begin() + 2, differing.end()})), spread(differing),
                 spread(std::span(medians).subspan(series))});
  }

 private:
  // The median time of each series. Series alternate and take turns starting a round, which spreads clock
  // changes and similar effects over all of them.
  std::vector<double> time(const Subject& subject, const std::deque<BenchKey>& keys,
                           const std::deque<BenchKernel>& kernels) {
    std::array<std::vector<double>, 2 * series> seconds;
    for (int round = -warm_ups; round < rounds; ++round) {
      report_.cancel().check();
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        const std::size_t turn = (i + static_cast<std::size_t>(round + warm_ups)) % seconds.size();
        const std::size_t key = std::min(turn, series);
        const double second = time_once(subject, keys[key], kernels[key]);
        if (round >= 0) seconds[turn].push_back(second);
      }
    }
    std::vector<double> medians;
    for (std::vector<double>& each : seconds) medians.push_back(median(std::move(each)));
    return medians;
  }

  // For opening, first seals the data with the same key, untimed, because a wrong tag takes another branch.
  double time_once(const Subject& subject, const BenchKey& key, const BenchKernel& kernel) {
    const KernelMode mode = kernel.mode();
    const std::size_t launches = launches_of(size_);
    if (mode == KernelMode::open) {
      const BenchKernel sealer(subject, KernelMode::seal, key);
      data_.begin_round();
      for (std::size_t i = 0; i < launches; ++i)
        sealer.launch(data_.next(KernelMode::seal, size_), streams_[0]);
    }
    data_.begin_round();
    return streams_.time(1, [&] {
      for (std::size_t i = 0; i < launches; ++i) kernel.launch(data_.next(mode, size_), streams_[0]);
    });
  }

  const std::size_t size_;
  BenchData data_;
  Report& report_;
  Streams streams_{1};
};

}  // namespace

void run_key_bench(const Arguments& arguments) {
  const KernelRequest request = parse_key_request(arguments);
  const std::vector<Subject> subjects = choose_subjects(request);
  require_cuda_devices();
  Report report(arguments.form, {{"variant", 30},
                                 {"cipher", 10},
                                 {"mode", 11},
                                 {"bytes", 10},
                                 {"series"},
                                 {"runs"},
                                 {"zeros_gb_per_s", 0, 3},
                                 {"ones_gb_per_s", 0, 3},
                                 {"random_gb_per_s", 0, 3},
                                 {"keys_spread_percent", 0, 3},
                                 {"one_key_spread_percent", 0, 3}});
  KeyBench bench(request.sizes.front(), report);
  for (const Subject& subject : subjects)
    for (const Cipher cipher : request.ciphers)
      for (const KernelMode mode : request.modes)
        if (subject.can(cipher, mode)) bench.run(subject, cipher, mode);
  report.finish();
}

}  // namespace gpuaes
