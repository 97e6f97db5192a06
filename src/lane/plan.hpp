// Which lanes a run uses, and how large its ring is. The figures it plans by are in lane/plan_figures.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cipher/ciphers.hpp"
#include "lane/backends.hpp"
#include "lane/plan_figures.hpp"
#include "system/resources.hpp"

namespace gpuaes {

// What the plan is made from, besides the lanes that were named.
struct Machine {
  unsigned cpus = 1;            // that this process may use at once
  std::size_t cache_bytes = 0;  // of the last-level cache; 0 where the system does not tell
  bool cuda = false;            // CUDA lanes may open
  std::uint64_t (*free_memory)() = available_memory;  // asked for large rings only: looking takes 0.1 ms
};

// What is known of a run before it begins.
struct Workload {
  std::uint64_t parallel_bytes = 0;  // of input that lanes read in parallel: files; 0 for all else
  LaneRates rates = figures.aes_ctr;
  std::optional<std::size_t> chunk_bytes;  // --chunk-size
};

// How fast lanes are with `cipher`, in its AEAD or in counter mode alone. LaneError for one without a case.
const LaneRates& lane_rates(Cipher cipher, bool authenticated);

// Quotas of CPU time do not count for AES where the input is no file: to look for them takes 0.1 ms, and the
// plan makes two lanes of it, which between two pipes are as fast as one also with a quota of one CPU.
Machine this_machine(const Workload& workload);

struct LanePlan {
  std::vector<LaneSpec> first;   // open before the run begins, or it does not
  std::vector<LaneSpec> later;   // opened while the first work, to take over; may fail to open
  std::uint64_t later_from = 0;  // bytes of input that have come when it is time to open them
  std::size_t chunk_bytes = 0;   // of plaintext; not yet rounded to the format's units
  std::size_t chunks = 0;
  std::size_t jobs = 0;  // that all lanes together may have under way
  std::string reason;    // why these; empty where they were named
};

// After how many bytes of input CUDA lanes that take over are done earlier than CPU lanes that go on, if
// ever: of a file that is as long, of anything else that goes on for as long again.
std::optional<std::uint64_t> bytes_until_cuda_pays(unsigned cpus, const Workload& workload);

// CPU lanes, and CUDA streams of a device, for -l without a count.
unsigned cpu_lane_count(unsigned cpus, const Workload& workload);
unsigned cuda_stream_count(unsigned cpus, const Workload& workload);

// `specs` as parse_lanes() returns them. IoError where not even one chunk has room in memory.
LanePlan plan_lanes(std::vector<LaneSpec> specs, const Workload& workload, const Machine& machine);

}  // namespace gpuaes
