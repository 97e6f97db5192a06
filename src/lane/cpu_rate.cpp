#include "lane/cpu_rate.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "lane/backends.hpp"

namespace gpuaes {

// The fastest of several runs: the first ones load the code and wake the CPU, and another process may
// interrupt others.
double measure_cpu_lane(Cipher cipher, bool authenticated) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t size = 256 << 10;  // whole segments of any cipher
  constexpr int min_runs = 2;
  constexpr std::chrono::milliseconds min_time(1);
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
  const std::unique_ptr<Lane> lane = make_cpu_lane();
  Clock::duration fastest = Clock::duration::max(), all{};
  for (int run = 0; run < min_runs || all < min_time; ++run) {
    const Clock::time_point start = Clock::now();
    lane->start(job);
    lane->finish();
    const Clock::duration took = Clock::now() - start;
    fastest = std::min(fastest, took);
    all += took;
  }
  return size / std::chrono::duration<double>(std::max(fastest, Clock::duration(1))).count();
}

}  // namespace gpuaes
