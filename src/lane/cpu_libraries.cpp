#include "lane/cpu_libraries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "cipher/cpu_cipher.hpp"
#include "cipher/libgcrypt.hpp"
#include "cipher/modes/segments.hpp"

namespace gpuaes {
namespace {

// A change of library must be worth more than the error of measurement.
constexpr double min_gain = 1.05;

// This is the fastest of several runs: the first ones load the code and wake the CPU, and another process may
// interrupt others.
double measure(CpuCipher& cipher, const Job& job) {
  using Clock = std::chrono::steady_clock;
  constexpr int min_runs = 2;
  constexpr std::chrono::milliseconds min_time(1);
  Clock::duration fastest = Clock::duration::max(), all{};
  for (int run = 0; run < min_runs || all < min_time; ++run) {
    const Clock::time_point start = Clock::now();
    (void)cipher.run(job);
    const Clock::duration took = Clock::now() - start;
    fastest = std::min(fastest, took);
    all += took;
  }
  const std::chrono::duration<double> seconds = std::max(fastest, Clock::duration(1));
  return static_cast<double>(job.in.size()) / seconds.count();
}

// Null also if it fails.
std::unique_ptr<CpuCipher> try_libgcrypt(const Job& job) {
  try {
    return make_libgcrypt_cipher(job);
  } catch (const LaneError&) {
    return nullptr;
  }
}

struct Outcome {
  std::optional<std::size_t> bad_segment;
  Secret out;  // may be plaintext

  friend bool operator==(const Outcome& a, const Outcome& b) {
    return a.bad_segment == b.bad_segment &&
           (a.bad_segment || std::ranges::equal(a.out.bytes(), b.out.bytes()));
  }
};

// Does the first segment of a job, or as many bytes in counter mode.
Outcome run_first_segment(CpuCipher& cipher, const Job& job) {
  Job first = job;
  Outcome outcome;
  const auto set = [&](std::span<const std::byte> in, std::size_t out_bytes) {
    first.in = in;
    outcome.out = Secret(out_bytes);
    first.out = outcome.out.bytes();
  };
  if (job.operation == Operation::ctr) {
    const std::size_t size = std::min<std::size_t>(job.in.size(), job.rules.plain_bytes);
    set(job.in.first(size), size);
  } else if (job.operation == Operation::seal) {
    const auto segment = segment_to_seal(job, 0);
    set(segment.plain, segment.sealed.size());
  } else {
    const auto segment = segment_to_open(job, 0);
    set(segment.sealed, segment.plain.size());
  }
  first.ends_message = job.ends_message && count_segments(job) == 1;
  outcome.bad_segment = cipher.run(first);
  return outcome;
}

std::string gigabytes_per_second(double rate) {
  return fmt::format("{:.2g} GB/s", rate / 1e9);
}

}  // namespace

CpuRates measure_cpu(Cipher cipher, bool authenticated) {
  constexpr std::size_t size = 256 << 10;  // whole segments of any cipher
  const CipherInfo& row = info(cipher);
  const SegmentRules& rules = row.segments;
  const CipherKey key{cipher, Secret(row.key_bytes)};
  const std::vector<std::byte> in(size);
  std::vector<std::byte> out(authenticated ? size / rules.plain_bytes * rules.sealed_bytes() : size);
  const Job job{.operation = authenticated ? Operation::seal : Operation::ctr,
                .key = &key,
                .in = in,
                .out = out,
                .rules = rules,
                .base_nonce = {.size = row.aead.nonce_bytes}};
  CpuRates rates{.libcrypto = measure(*make_cpu_cipher(job), job)};
  if (const std::unique_ptr<CpuCipher> other = try_libgcrypt(job)) rates.libgcrypt = measure(*other, job);
  return rates;
}

CpuLibrary CpuLibraries::choose(const Job& job) {
  if (bytes_.fetch_add(job.in.size()) < trial_bytes || job.in.empty() || measured_.exchange(true))
    return chosen_;
  const std::unique_ptr<CpuCipher> other = try_libgcrypt(job);
  if (!other) return chosen_;
  if (run_first_segment(*other, job) != run_first_segment(*make_cpu_cipher(job), job))
    throw LaneError("libgcrypt and libcrypto disagree");
  const CpuRates rates = measure_cpu(job.key->cipher, job.operation != Operation::ctr);
  const bool faster = rates.libgcrypt > min_gain * rates.libcrypto;
  if (faster) chosen_ = CpuLibrary::libgcrypt;
  const std::string libgcrypt = fmt::format("libgcrypt {}", libgcrypt_version());
  const std::string used = gigabytes_per_second(faster ? rates.libgcrypt : rates.libcrypto);
  const std::string unused = gigabytes_per_second(faster ? rates.libcrypto : rates.libgcrypt);
  const std::lock_guard lock(mutex_);
  description_ = fmt::format("{} ({}; {} {})", faster ? libgcrypt : "libcrypto", used,
                             faster ? "libcrypto" : libgcrypt, unused);
  return chosen_;
}

std::string CpuLibraries::description() const {
  const std::lock_guard lock(mutex_);
  return description_;
}

}  // namespace gpuaes
