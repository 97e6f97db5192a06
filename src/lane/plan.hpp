// Plans which lanes a run uses and how large its ring is, using the figures in lane/plan_figures.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cipher/ciphers.hpp"
#include "lane/backends.hpp"
#include "lane/plan_figures.hpp"

namespace gpuaes {

// What is known about a run before it begins.
struct Workload {
  std::uint64_t parallel_bytes = 0;  // of input that lanes can read in parallel; 0 unless it is a file
  bool from_disk = false;            // whether most of that is not in the page cache
  Cipher cipher = Cipher::aes_256;
  bool authenticated = false;
  bool cuda = true;                        // whether CUDA lanes support the stream
  std::optional<std::size_t> chunk_bytes;  // --chunk-size
};

// What a plan needs to know about the machine. The functions take time and are called only where it matters.
struct Machine {
  unsigned cpus = 1;                                           // that this process may use
  std::size_t cache_bytes = 0;                                 // of the last-level cache; 0 if unknown
  bool cuda = false;                                           // whether CUDA lanes may open
  std::function<std::uint64_t()> free_memory;                  // available_memory()
  std::function<unsigned(unsigned max_devices)> show_devices;  // show_first_devices()
  std::function<double(const Workload&)> cpu_lane_rate;        // measure_cpu_lane()
  std::function<std::optional<double>()> link_rate;            // fastest_gpu_link()
};

inline bool is_file(const Workload& workload) {
  return workload.parallel_bytes > 0;
}

// Inspects this machine. Ignores CPU quotas for AES if the input is not a file: reading them takes time, and
// a plan then has at most two lanes, which are as fast as one even with a quota of one CPU.
Machine this_machine(const Workload& workload);

// All specs of lanes that use a device name it.
struct LanePlan {
  std::vector<LaneSpec> first;  // opened before the run, which fails if they cannot open
  std::vector<LaneSpec> later;  // opened while the first lanes work, to take over; may fail to open
  // CPU lanes to use if the CUDA lanes in `first` or `later` cannot open, or turn out to be slower. The ring
  // is not sized for them.
  std::vector<LaneSpec> instead;
  std::uint64_t later_from = 0;  // bytes of input after which they are opened
  std::size_t chunk_bytes = 0;   // of plaintext; not yet rounded to the format's units
  std::size_t chunks = 0;
  std::size_t jobs = 0;     // that may be in flight in all lanes together
  bool huge_pages = false;  // whether the ring should use them
  std::string reason;       // why these lanes were chosen; empty if the user named them
};

// The number of CPU lanes that outrun any pipe.
unsigned lanes_for_pipes(const Workload& workload);

// Number of CPU lanes, and of CUDA streams per device if `devices` are used together, for -l without a count.
unsigned cpu_lane_count(unsigned cpus, const Workload& workload);
unsigned cuda_stream_count(const Machine& machine, unsigned devices, const Workload& workload);

// IoError if not even one chunk fits in memory.
LanePlan plan_lanes(const LaneChoice& choice, const Workload& workload, const Machine& machine);

}  // namespace gpuaes
