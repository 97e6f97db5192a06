// The backends of lanes. Which of them a run uses says lane/plan.hpp.
//
// To add a backend: a Lane of its own, its name in Backend and its cases in lanes.cpp and plan.cpp.
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

enum class Backend { cpu, reference, cuda };

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
  KernelShape shape{};                      // of the kernel for AES
};

// Opens what `specs` say, all or none. LaneError.
std::vector<std::unique_ptr<Lane>> open_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup);

// For messages: as -l takes it, with * for every device.
std::string to_string(const LaneSpec& spec);

// The lanes this machine has, a line each, for --list-lanes.
std::vector<std::string> describe_lanes();

// Whether CUDA was built in and there is a driver: without it no device opens, and looking costs nothing.
bool cuda_may_open();

// libcrypto, and with it whatever AES instructions the CPU has; one thread each.
std::unique_ptr<Lane> make_cpu_lane();

// The portable code of src/cipher, which tests compare all others with: slow, used only where it is named.
std::unique_ptr<Lane> make_reference_lane();

// Defined in cuda/lane.cpp, which is there only where CUDA was built in; everyone else asks open_lanes().
std::vector<std::unique_ptr<Lane>> open_cuda_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup);
// Where all of several devices are named the runtime is shown only these, which opens faster. Before its
// first use; it changes the environment, so no other thread may be looking there.
void show_only_named_devices(std::vector<LaneSpec>& specs);
std::size_t count_cuda_devices();                         // 0 also where there is no driver
std::size_t require_cuda_devices(const char* hint = "");  // LaneError, which says why, instead of 0
std::vector<std::string> describe_cuda_devices();

}  // namespace gpuaes
