// The list of backends of lanes, and how -l names lanes. lane/plan.hpp chooses among them.
//
// To add a backend: its enumerator in Backend, its row in lane/backends.cpp, and a source file of its own
// with its Lane and the function that opens such lanes, which is declared below. Users learn of it from the
// hint of -l (bad_lanes() in lane/backends.cpp) and gpuaes-stream(1).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lane/cuda_kernel.hpp"
#include "lane/lane.hpp"

namespace gpuaes {

enum class Backend { cpu, reference, cuda, last = cuda };

struct LaneSpec;
struct LaneSetup;
struct Workload;

struct BackendInfo {
  Backend backend;
  std::string_view name;  // as -l takes it
  unsigned max_count;     // of threads, or of streams of a device
  bool (*supports)(Cipher cipher);
  std::size_t (*count_devices)();  // null: the lanes use no device, and -l takes none

  // The lanes of all `specs`, which are of this backend. LaneError.
  std::vector<std::unique_ptr<Lane>> (*open)(std::span<const LaneSpec> specs, const LaneSetup& setup);

  // How many lanes, or streams of a device, for -l without a count.
  unsigned (*default_count)(unsigned cpus, const Workload& workload);

  std::vector<std::string> (*describe)();  // this machine's lanes, a line each, for --list-lanes
};

const BackendInfo& info(Backend backend);

// One part of what -l takes: "cpu", "cpu:2", "reference", "cuda", "cuda:0", "cuda:0:4".
struct LaneSpec {
  Backend backend;
  std::optional<unsigned> device;      // CUDA's number; every device where it is not given
  std::optional<unsigned> count;       // threads, or streams of a device; what suits the machine without it
  std::optional<unsigned> shown_as{};  // the device's number where the runtime sees only some (below)
};

// What -l takes: "auto", which is an empty list, or parts joined by '+'. UsageError.
std::vector<LaneSpec> parse_lanes(std::string_view text);

// What --kernel takes. UsageError.
CudaKernel parse_cuda_kernel(std::string_view name);

// What lanes are opened for: where the jobs that will come lie, how long the longest is, and what is wanted.
struct LaneSetup {
  std::span<std::byte> memory;
  std::size_t max_in;
  std::size_t max_out = 0;                  // 0 where all outputs are as long as their inputs
  Cipher cipher = Cipher::aes_256;          // of the keys that are expected; others are taken too
  bool timed = false;                       // lanes are to tell the phases of their jobs
  CudaKernel kernel = default_cuda_kernel;  // of CUDA lanes
};

// Opens what `specs` say, all or none. LaneError; also for a backend that does not support setup.cipher.
std::vector<std::unique_ptr<Lane>> open_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup);

bool uses_device(const LaneSpec& spec);

// For messages: as -l takes it, with * for every device.
std::string to_string(const LaneSpec& spec);

// The lanes this machine has, a line each, for --list-lanes.
std::vector<std::string> describe_lanes();

// libcrypto, and with it whatever AES instructions the CPU has; one thread each.
std::unique_ptr<Lane> make_cpu_lane();

// The portable code of src/cipher, which tests compare all others with: slow, used only where it is named.
std::unique_ptr<Lane> make_reference_lane();

// The depth() of a CUDA lane: one job is read and queued while the device does the other.
inline constexpr std::size_t cuda_jobs_per_lane = 2;

// Defined in cuda/, or in lane/without_cuda.cpp if the program is built without it.
std::vector<std::unique_ptr<Lane>> open_cuda_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup);
// Whether CUDA was built in and there is a driver: without it no device opens, and looking costs nothing.
bool cuda_may_open();
// If every CUDA spec names its device, the runtime is shown only these devices, which opens faster. Before
// its first use; it changes the environment, so no other thread may be reading that.
void show_only_named_devices(std::vector<LaneSpec>& specs);
std::size_t count_cuda_devices();  // 0 also where there is no driver
std::vector<std::string> describe_cuda_devices();

// Only in cuda/: the number of devices. LaneError, which says why, instead of 0.
std::size_t require_cuda_devices(const char* hint = "");

}  // namespace gpuaes
