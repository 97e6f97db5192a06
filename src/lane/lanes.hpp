// The backends of lanes, and which of them a run uses.
//
// To add a backend: a Lane of its own, its name in Backend and its cases in lanes.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lane/lane.hpp"

namespace gpuaes {

enum class Backend { cpu, reference, cuda };

// One part of what -l takes: "cpu", "cpu:2", "reference", "cuda", "cuda:0", "cuda:0:4".
struct LaneSpec {
  Backend backend;
  std::optional<unsigned> device;  // CUDA's number; every device where it is not given
  std::optional<unsigned> count;   // threads, or streams of a device; what suits the machine without it
};

// What -l takes: "auto", which is an empty list, or parts joined by '+'. UsageError.
std::vector<LaneSpec> parse_lanes(std::string_view text);

// What is known of a run before it begins.
struct RunShape {
  std::optional<std::uint64_t> input_bytes;  // where the input says how long it is
  bool lanes_read = false;                   // the input is a file, which lanes read in parallel
  std::optional<std::size_t> chunk_bytes;    // --chunk-size
};

struct LanePlan {
  std::vector<LaneSpec> first;  // open before the run begins, or it does not
  std::vector<LaneSpec> later;  // opened while the first work, to take over; may fail to open
  std::size_t chunk_bytes = 0;  // of plaintext; not yet rounded to the format's units
  std::size_t chunks = 0;
};

// `specs` as parse_lanes() returns them.
LanePlan plan_lanes(std::vector<LaneSpec> specs, const RunShape& shape);

// Where the jobs that will come lie, and how long the longest is.
struct JobMemory {
  std::span<std::byte> memory;
  std::size_t most_in;
  std::size_t most_out = 0;  // 0 where all outputs are as long as their inputs
};

// Opens what `specs` say, all or none. LaneError.
std::vector<std::unique_ptr<Lane>> open_lanes(std::span<const LaneSpec> specs, const JobMemory& jobs);

// For messages: as -l takes it, with * for every device.
std::string to_string(const LaneSpec& spec);

// The lanes this machine has, a line each, for --list-lanes.
std::vector<std::string> describe_lanes();

// CPUs this process may use at once: its affinity, and no more than the CPU quota of its control groups.
unsigned usable_cpus();

// libcrypto, and with it whatever AES instructions the CPU has; one thread each.
std::unique_ptr<Lane> make_cpu_lane();

// The portable code of src/cipher, which tests compare all others with: slow, used only where it is named.
std::unique_ptr<Lane> make_reference_lane();

// Defined in cuda/lane.cpp, which is there only where CUDA was built in; everyone else asks open_lanes().
std::vector<std::unique_ptr<Lane>> open_cuda_lanes(std::span<const LaneSpec> specs, const JobMemory& jobs);
std::size_t count_cuda_devices();  // 0 also where there is no driver
std::vector<std::string> describe_cuda_devices();

}  // namespace gpuaes
