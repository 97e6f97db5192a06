// Plans which lanes a run uses and how large its ring is: from what the user names, what it measures, and the
// figures in plan.cpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cipher/ciphers.hpp"
#include "lane/backends.hpp"

namespace gpuaes {

// What is known about a run before it begins.
struct Workload {
  std::uint64_t parallel_bytes = 0;  // of input that lanes can read in parallel; 0 unless it is a file
  bool from_disk = false;            // whether most of that is not in the page cache
  bool to_disk = false;              // whether the output is written directly to a disk
  Cipher cipher = Cipher::aes_256;
  bool authenticated = false;
  bool cuda = true;                        // whether CUDA lanes support the stream
  std::optional<std::size_t> chunk_bytes;  // --chunk-size
};

// What a plan needs to know about the machine. The functions take time and are called only where it matters.
struct Machine {
  unsigned cpus = 1;                                       // that this process may use
  std::size_t cache_bytes = 0;                             // of the last-level cache; 0 if unknown
  bool cuda = false;                                       // whether CUDA lanes may open
  std::function<std::uint64_t()> free_memory;              // available_memory()
  std::function<std::optional<unsigned>()> known_devices;  // known_cuda_devices()
  std::function<double(const Workload&)> cpu_lane_rate;    // bytes per second of one lane
  std::function<std::optional<double>()> link_rate;        // fastest_gpu_link()
};

// Inspects this machine. Ignores CPU quotas, which take time to read, if all lanes are CPU lanes whose number
// the user named, and for AES if the input is not a file: a plan then has at most two lanes, which are as
// fast as one even with a quota of one CPU.
Machine this_machine(const Workload& workload, const LaneChoice& choice);

// All specs of lanes that use a device name it.
struct LanePlan {
  std::vector<LaneSpec> first;    // opened before the run, which fails if they cannot open
  std::vector<LaneSpec> joining;  // of more devices; opened while the first lanes work, to help them
  std::vector<LaneSpec> later;    // opened while the first lanes work, to take over; may fail to open
  // CPU lanes to use if the CUDA lanes in `first` or `later` cannot open, or turn out to be slower. The ring
  // is not sized for them.
  std::vector<LaneSpec> instead;
  std::uint64_t later_from = 0;  // bytes of input after which they are opened
  std::size_t chunk_bytes = 0;   // of plaintext; not yet rounded to the format's units
  std::size_t chunks = 0;
  std::size_t jobs = 0;     // that may be in flight in all lanes together
  bool huge_pages = false;  // whether the ring should use them
  std::string reason;       // why these lanes are used; empty if they are those that the user named
};

// The default size of a chunk on CPU lanes, in bytes of plaintext.
inline constexpr std::size_t cpu_file_chunk_bytes = 1 << 20, cpu_pipe_chunk_bytes = 256 << 10;

// Number of CPU lanes, and of CUDA streams per device if `devices` are used together, for -l without a count.
unsigned cpu_lane_count(unsigned cpus, const Workload& workload);
unsigned cuda_stream_count(const Machine& machine, unsigned devices, const Workload& workload);

// IoError if not even one chunk fits in memory. LaneError if a device is known not to exist.
LanePlan plan_lanes(const LaneChoice& choice, const Workload& workload, const Machine& machine);

// How -l auto decides ----------------------------------------------------------------------------

// Bytes of input per second with CPU lanes only, and with CUDA lanes.
struct Speeds {
  double cpu, cuda;
};

// What a run can expect. `lane`: of one CPU lane without I/O. `link`: of the link to the device, in each
// direction.
Speeds expected_speeds(unsigned cpus, double lane, double link, const Workload& workload);

// How many bytes of input make CUDA lanes pay off if `opening_cpus` encrypt while they open; none if they
// never do. For a file, this is its minimum size. Otherwise, it is the position at which they are opened,
// which pays off if at least as much input follows.
std::optional<std::uint64_t> bytes_until_cuda_pays(unsigned cpus, unsigned opening_cpus,
                                                   const Speeds& expected);

// What a run did with its first lanes while CUDA opened, and then with CUDA lanes, in bytes of input per
// second.
struct Observed {
  double first, later;
  unsigned first_lanes, all_lanes;  // number of CPU lanes that ran, and that would run without CUDA
};

// Whether CUDA lanes that have taken over continue. The time to open them has already been spent.
bool later_lanes_continue(const Observed& observed);

// How long CUDA lanes must be slower, twice, before CPU lanes take over again.
inline constexpr std::chrono::milliseconds takeover_trial(100);

// The position in the input at which CUDA lanes have saved the CPU time that opening them took; none if they
// save none. Inputs of known length that end before it are not worth opening them.
std::optional<std::uint64_t> bytes_until_cuda_saves(double lane, const Workload& workload);

}  // namespace gpuaes
