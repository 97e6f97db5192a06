// The list of lane backends. lane/plan.hpp chooses among them.
//
// To add a backend: add its enumerator to Backend, its row to lane/backends.cpp, and a source file with its
// Lane and the function that opens its lanes, declared below. Document it in the hint of -l (bad_lanes() in
// cli/option_values.cpp) and in gpuaes-stream(1).
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lane/lane.hpp"

namespace gpuaes {

enum class Backend { cpu, cuda, last = cuda };

class CpuLibraries;
struct LaneSpec;
struct LaneSetup;

struct BackendInfo {
  Backend backend;
  std::string_view name;  // in the form that -l takes
  unsigned max_count;     // of threads, or of streams per device
  bool (*supports)(Cipher cipher, const SegmentRules& rules);
  bool uses_device;

  // Opens the lanes of all `specs`, which are of this backend. LaneError.
  std::vector<std::unique_ptr<Lane>> (*open)(std::span<const LaneSpec> specs, const LaneSetup& setup);

  std::vector<std::string> (*describe)();  // this machine's lanes for --list-lanes, one per line
};

const BackendInfo& info(Backend backend);
std::optional<Backend> find_backend(std::string_view name);

// One item of -l: "cpu", "cpu:2", "cuda", "cuda:0", "cuda:0:4".
struct LaneSpec {
  Backend backend;
  std::optional<unsigned> device;      // CUDA's number; set by plan_lanes() if not, then the only spec
  std::optional<unsigned> count;       // threads, or streams per device; chosen by plan_lanes() if not set
  std::optional<unsigned> shown_as{};  // the runtime's number; see show_only_devices()
};

// The lanes that a user asks for.
struct LaneChoice {
  std::vector<LaneSpec> named;  // empty if plan_lanes() is to choose
  bool low_cpu = false;         // it then chooses those that use the least CPU time, not the fastest
  bool all_devices = false;     // uses all named devices, even if opening them does not pay off
};

// As -l names them: cpu:4+cuda:0.
std::string to_string(const std::vector<LaneSpec>& specs);

// `cuda` without a device becomes device 0.
void use_first_device(std::vector<LaneSpec>& specs);

std::vector<std::string_view> backend_names();

// For a spec whose device does not exist on a machine with `count` devices.
LaneError no_such_device(const LaneSpec& spec, std::size_t count);

// What lanes need to know when they are opened: the memory that contains all jobs, the size of the longest
// job, and how to run jobs.
struct LaneSetup {
  std::span<std::byte> memory;
  std::size_t max_in;
  std::size_t max_out = 0;                // 0 if all outputs are as long as their inputs
  Cipher cipher = Cipher::aes_256;        // of the expected keys; keys of other ciphers work, too
  SegmentRules rules{};                   // of all jobs
  bool timed = false;                     // lanes record the phases of their jobs
  CpuLibraries* cpu_libraries = nullptr;  // for CPU lanes to choose from; null if they use libcrypto
};

// Opens the lanes of all `specs`, or none. Specs of lanes that use a device must name it. LaneError,
// including for a backend that does not support setup.cipher or setup.rules.
std::vector<std::unique_ptr<Lane>> open_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup);

bool uses_device(const LaneSpec& spec);

// This machine's lanes for --list-lanes, one per line.
std::vector<std::string> describe_lanes();

// A CPU lane that uses libcrypto, and our own code for Kuznyechik, which libcrypto does not have.
std::unique_ptr<Lane> make_cpu_lane();
std::vector<std::unique_ptr<Lane>> open_cpu_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup);

// The depth() of a CUDA lane: one job is read and queued while the device works on the other.
inline constexpr std::size_t cuda_jobs_per_lane = 2;

// Defined in cuda/, or in lane/without_cuda.cpp if the program is built without it.
std::vector<std::unique_ptr<Lane>> open_cuda_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup);
// Whether CUDA was built in and there is a driver. A cheap check: if false, no device can be opened.
bool cuda_may_open();
// How many devices the CUDA runtime will see, without using it; nothing if the system does not say.
std::optional<unsigned> known_cuda_devices();
// If every CUDA spec of the lists names its device, makes only these devices visible to the runtime, which
// then opens faster. Does nothing if the runtime has been used before, or if an earlier call has set
// shown_as. It sets an environment variable: no other thread may read the environment at the same time.
void show_only_devices(std::initializer_list<std::span<LaneSpec>> lists);
std::size_t count_cuda_devices();  // 0 without a driver
std::vector<std::string> describe_cuda_devices();
// Why no device can be used although there is a driver; empty if one can, or without a driver.
std::string reason_for_no_cuda_device();

// Only in cuda/: the number of devices, or a LaneError with the reason if there are none.
std::size_t require_cuda_devices(const Hint& hint = {});

}  // namespace gpuaes
