#include "lane/backends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "base/rows.hpp"
#include "base/text.hpp"
#include "cipher/libgcrypt.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

std::vector<std::string> describe_cpus() {
  const unsigned cpus = usable_cpus();
  const std::string& other = libgcrypt_version();
  return {fmt::format("cpu:{}\tlibcrypto{}, {} threads", cpus, other.empty() ? "" : " or libgcrypt " + other,
                      cpus)};
}

constexpr std::array backends{
    BackendInfo{.backend = Backend::cpu,
                .name = "cpu",
                .max_count = 1024,
                .supports = [](Cipher, const SegmentRules&) { return true; },
                .uses_device = false,
                .open = open_cpu_lanes,
                .describe = describe_cpus},
    BackendInfo{
        .backend = Backend::cuda,
        .name = "cuda",
        .max_count = 64,
        // The size of segments is fixed when the kernels are compiled.
        .supports = [](Cipher cipher, const SegmentRules& rules) { return info(cipher).segments == rules; },
        .uses_device = true,
        .open = open_cuda_lanes,
        .describe = describe_cuda_devices},
};
static_assert(has_row_for_each(backends, &BackendInfo::backend));

// Throws LaneError, like any other failure to open a named lane.
void check_supported(const BackendInfo& backend, const LaneSetup& setup) {
  if (backend.supports(setup.cipher, setup.rules)) return;
  std::vector<std::string_view> others;
  for (const BackendInfo& each : backends)
    if (each.supports(setup.cipher, setup.rules)) others.push_back(each.name);
  throw LaneError(fmt::format("{} workers do not support {} with segments of {} bytes", backend.name,
                              info(setup.cipher).name, setup.rules.plain_bytes),
                  list_hint("workers that support it: {}", others));
}

}  // namespace

const BackendInfo& info(Backend backend) {
  return row_of(backends, backend);
}

bool uses_device(const LaneSpec& spec) {
  return info(spec.backend).uses_device;
}

std::optional<Backend> find_backend(std::string_view name) {
  for (const BackendInfo& each : backends)
    if (each.name == name) return each.backend;
  return std::nullopt;
}

std::string to_string(const std::vector<LaneSpec>& specs) {
  std::string text;
  for (const LaneSpec& spec : specs) {
    text.append(text.empty() ? "" : "+").append(info(spec.backend).name);
    if (spec.device) text += fmt::format(":{}", *spec.device);
    if (spec.count) text += fmt::format(":{}", *spec.count);
  }
  return text;
}

void use_first_device(std::vector<LaneSpec>& specs) {
  for (LaneSpec& spec : specs)
    if (uses_device(spec) && !spec.device) spec.device = 0;
}

std::vector<std::string_view> backend_names() {
  return names_of(backends);
}

LaneError no_such_device(const LaneSpec& spec, std::size_t count) {
  return LaneError(fmt::format("there is no CUDA device {}; this machine has {}", spec.device.value(), count),
                   Advice::list_lanes);
}

// Device lanes come last, since the calling thread drives the first lane of a run. Those of a backend are
// opened together.
std::vector<std::unique_ptr<Lane>> open_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup) {
  for (const LaneSpec& spec : specs) check_supported(info(spec.backend), setup);
  std::vector<std::unique_ptr<Lane>> lanes;
  const auto open = [&](Backend backend, std::span<const LaneSpec> backend_specs) {
    std::ranges::move(info(backend).open(backend_specs, setup), std::back_inserter(lanes));
  };
  std::map<Backend, std::vector<LaneSpec>> device_specs;
  for (const LaneSpec& spec : specs) {
    if (uses_device(spec))
      device_specs[spec.backend].push_back(spec);
    else
      open(spec.backend, {&spec, 1});
  }
  for (const auto& [backend, backend_specs] : device_specs) open(backend, backend_specs);
  return lanes;
}

std::vector<std::string> describe_lanes() {
  std::vector<std::string> lines;
  for (const BackendInfo& each : backends) std::ranges::move(each.describe(), std::back_inserter(lines));
  return lines;
}

}  // namespace gpuaes
