#include "lane/backends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "base/rows.hpp"
#include "base/text.hpp"
#include "lane/plan.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view auto_lanes = "auto", auto_low_cpu = "auto:low-cpu";
constexpr unsigned max_threads = 1024;
constexpr unsigned max_devices = 9999;
constexpr unsigned max_streams = 64;

std::vector<std::unique_ptr<Lane>> open_cpu_lanes(std::span<const LaneSpec> specs, const LaneSetup&) {
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const LaneSpec& spec : specs)
    std::generate_n(std::back_inserter(lanes), spec.count.value_or(1), make_cpu_lane);
  return lanes;
}

std::vector<std::string> describe_cpus() {
  return {fmt::format("cpu:{}\tlibcrypto, {} threads", usable_cpus(), usable_cpus())};
}

constexpr bool supports_all(Cipher, const SegmentRules&) {
  return true;
}

// The size of segments is fixed when the kernels are compiled.
bool has_kernels(Cipher cipher, const SegmentRules& rules) {
  return info(cipher).segments == rules;
}

constexpr std::array backends{
    BackendInfo{
        .backend = Backend::cpu,
        .name = "cpu",
        .max_count = max_threads,
        .supports = supports_all,
        .uses_device = false,
        .open = open_cpu_lanes,
        .default_count = [](const Machine& machine, unsigned,
                            const Workload& workload) { return cpu_lane_count(machine.cpus, workload); },
        .describe = describe_cpus},
    BackendInfo{.backend = Backend::cuda,
                .name = "cuda",
                .max_count = max_streams,
                .supports = has_kernels,
                .uses_device = true,
                .open = open_cuda_lanes,
                .default_count = cuda_stream_count,
                .describe = describe_cuda_devices},
};
static_assert(has_row_for_each(backends, &BackendInfo::backend));

constexpr char syntax_hint[] =
    "use auto, auto:low-cpu, or cpu[:THREADS] and cuda[:DEVICE[:STREAMS]] joined by +";

UsageError bad_lanes(std::string_view text, std::string hint = syntax_hint) {
  return UsageError(fmt::format("invalid lane specification '{}'", text), std::move(hint));
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<unsigned> parse_within(std::string_view digits, unsigned min, unsigned max) {
  const std::optional<unsigned> number = parse_number<unsigned>(digits);
  return number && *number >= min && *number <= max ? number : std::nullopt;
}

// A number in a field of `text`. `what` begins the hint.
unsigned parse_field(std::string_view field, std::string_view what, unsigned min, unsigned max,
                     std::string_view text) {
  const std::optional<unsigned> number = parse_within(field, min, max);
  if (!number) throw bad_lanes(text, fmt::format("{} must be from {} to {}", what, min, max));
  return *number;
}

Backend find_backend(std::string_view name, std::string_view text) {
  for (const BackendInfo& each : backends)
    if (each.name == name) return each.backend;
  if (is_number(name))
    throw bad_lanes(text, fmt::format("use cpu:{} to set the number of CPU threads", name));
  throw bad_lanes(text);
}

// One item of `text`: NAME[:COUNT], or NAME[:DEVICE[:COUNT]] for a backend that uses devices.
LaneSpec parse_part(std::string_view part, std::string_view text) {
  std::vector<std::string_view> fields = split(part, ':');
  LaneSpec spec{.backend = find_backend(fields[0], text)};
  const std::size_t count = uses_device(spec) ? 2 : 1;
  if (fields.size() > count + 1) throw bad_lanes(text);
  if (uses_device(spec) && fields.size() > 1)
    spec.device = parse_field(fields[1], "the device number", 0, max_devices, text);
  if (fields.size() > count)
    spec.count =
        parse_field(fields[count], uses_device(spec) ? "the number of streams" : "the number of threads", 1,
                    info(spec.backend).max_count, text);
  return spec;
}

// Throws LaneError, like any other failure to open a named lane.
void check_supported(const BackendInfo& backend, const LaneSetup& setup) {
  if (backend.supports(setup.cipher, setup.rules)) return;
  std::vector<std::string_view> others;
  for (const BackendInfo& each : backends)
    if (each.supports(setup.cipher, setup.rules)) others.push_back(each.name);
  throw LaneError(fmt::format("{} lanes do not support {} with segments of {} bytes", backend.name,
                              info(setup.cipher).name, setup.rules.plain_bytes),
                  list_hint("lanes that support it: {}", others));
}

}  // namespace

const BackendInfo& info(Backend backend) {
  return row_of(backends, backend);
}

bool uses_device(const LaneSpec& spec) {
  return info(spec.backend).uses_device;
}

LaneChoice parse_lanes(std::string_view text) {
  if (text == auto_lanes || text == auto_low_cpu) return {.named = {}, .low_cpu = text == auto_low_cpu};
  LaneChoice choice;
  for (const std::string_view part : split(text, '+')) choice.named.push_back(parse_part(part, text));
  if (choice.named.size() > 1) use_first_device(choice.named);
  return choice;
}

void use_first_device(std::vector<LaneSpec>& specs) {
  for (LaneSpec& spec : specs)
    if (uses_device(spec) && !spec.device) spec.device = 0;
}

std::vector<std::string_view> backend_names() {
  return names_of(backends);
}

std::vector<std::string_view> lane_names() {
  std::vector<std::string_view> names = backend_names();
  names.insert(names.begin(), {auto_lanes, auto_low_cpu});
  return names;
}

// Device lanes come last, since the calling thread drives the first lane of a run. They are opened together,
// which pins memory once for all of them.
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

std::string to_string(const LaneSpec& spec) {
  std::string text(info(spec.backend).name);
  if (spec.device) text += fmt::format(":{}", *spec.device);
  if (spec.count) text += fmt::format(":{}", *spec.count);
  return text;
}

std::vector<std::string> describe_lanes() {
  std::vector<std::string> lines;
  for (const BackendInfo& each : backends) std::ranges::move(each.describe(), std::back_inserter(lines));
  return lines;
}

}  // namespace gpuaes
