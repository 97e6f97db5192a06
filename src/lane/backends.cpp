#include "lane/backends.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "base/texts.hpp"
#include "system/profiler_range.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

// This file is the one place that asks whether CUDA was built in.
#ifdef GPUAES_WITH_CUDA
constexpr bool cuda_built_in = true;
#else
constexpr bool cuda_built_in = false;
#endif

constexpr unsigned max_threads = 1024;
constexpr unsigned max_devices = 9999;
constexpr unsigned max_streams = 64;

UsageError bad_lanes(std::string_view text) {
  return UsageError(fmt::format(text::bad_lanes, text),
                    fmt::format(text::lanes_hint, max_threads, max_streams));
}

unsigned parse_number(std::string_view digits, unsigned least, unsigned most, std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number < least || number > most)
    throw bad_lanes(text);
  return number;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

LaneSpec parse_part(std::string_view part, std::string_view text) {
  const std::vector<std::string_view> fields = split(part, ':');
  LaneSpec spec{};
  if ((fields[0] == "cpu" || fields[0] == "reference") && fields.size() <= 2) {
    spec.backend = fields[0] == "cpu" ? Backend::cpu : Backend::reference;
    if (fields.size() > 1) spec.count = parse_number(fields[1], 1, max_threads, text);
  } else if (fields[0] == "cuda" && fields.size() <= 3) {
    spec.backend = Backend::cuda;
    if (fields.size() > 1) spec.device = parse_number(fields[1], 0, max_devices, text);
    if (fields.size() > 2) spec.count = parse_number(fields[2], 1, max_streams, text);
  } else {
    throw bad_lanes(text);
  }
  return spec;
}

bool is_cuda(const LaneSpec& spec) {
  return spec.backend == Backend::cuda;
}

}  // namespace

#ifndef GPUAES_WITH_CUDA
std::vector<std::unique_ptr<Lane>> open_cuda_lanes(std::span<const LaneSpec>, const LaneSetup&) {
  throw LaneError(text::without_cuda, text::use_cpu_hint);
}
void show_only_named_devices(std::vector<LaneSpec>&) {}
std::size_t count_cuda_devices() {
  return 0;
}
std::vector<std::string> describe_cuda_devices() {
  return {};
}
void push_profiler_range(const char*) noexcept {}
void pop_profiler_range() noexcept {}
#endif

std::vector<LaneSpec> parse_lanes(std::string_view text) {
  std::vector<LaneSpec> specs;
  if (text == "auto") return specs;
  for (const std::string_view part : split(text, '+')) specs.push_back(parse_part(part, text));
  return specs;
}

CudaKernel parse_cuda_kernel(std::string_view name) {
  std::string names;
  for (const CudaKernelInfo& each : cuda_kernels) {
    if (each.name == name) return each.kernel;
    names.append(names.empty() ? "" : ", ").append(each.name);
  }
  throw UsageError(fmt::format(text::unknown_kernel, name), fmt::format(text::kernels_hint, names));
}

std::vector<std::unique_ptr<Lane>> open_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup) {
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<LaneSpec> cuda;
  for (const LaneSpec& spec : specs) {
    if (is_cuda(spec))
      cuda.push_back(spec);
    else
      std::generate_n(std::back_inserter(lanes), spec.count.value_or(1),
                      spec.backend == Backend::cpu ? make_cpu_lane : make_reference_lane);
  }
  if (!cuda.empty()) std::ranges::move(open_cuda_lanes(cuda, setup), std::back_inserter(lanes));
  return lanes;
}

std::string to_string(const LaneSpec& spec) {
  const std::string count = spec.count ? fmt::format(":{}", *spec.count) : "";
  if (!is_cuda(spec)) return (spec.backend == Backend::cpu ? "cpu" : "reference") + count;
  return spec.device ? fmt::format("cuda:{}{}", *spec.device, count) : fmt::format("cuda:*{}", count);
}

bool cuda_may_open() {
  return cuda_built_in && (access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0);
}

std::vector<std::string> describe_lanes() {
  std::vector<std::string> lines{fmt::format("cpu:{}\tlibcrypto, {} threads", usable_cpus(), usable_cpus())};
  if (cuda_may_open()) std::ranges::move(describe_cuda_devices(), std::back_inserter(lines));
  return lines;
}

}  // namespace gpuaes
