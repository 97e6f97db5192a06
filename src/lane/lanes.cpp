#include "lane/lanes.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "error.hpp"

namespace gpuaes {
namespace {

// This file is the one place that asks whether CUDA was built in.
#ifdef GPUAES_WITH_CUDA
constexpr bool cuda_built_in = true;
#else
constexpr bool cuda_built_in = false;
#endif

constexpr unsigned most_threads = 1024;
constexpr unsigned most_devices = 9999;
constexpr unsigned most_streams = 64;

// Pipes move 3 GB/s at the most and a thread encrypts 5: a second one covers the first one's wake-ups.
constexpr unsigned pipe_threads = 2;

// CPU lanes: a chunk and what becomes of it stay in a core's L2 cache; the ring stays below 96 MiB.
constexpr std::size_t cpu_chunk_bytes = 1 << 20;
constexpr std::size_t cpu_ring_bytes = 96 << 20;
constexpr std::size_t least_cpu_chunk_bytes = 64 << 10;

// CUDA lanes: 4 MiB chunks stay in the last-level cache between pread and copy, and make launches worth their while.
constexpr std::size_t cuda_chunk_bytes = 4 << 20;
constexpr unsigned cuda_streams = 8;
constexpr unsigned cuda_jobs = 2;  // in flight for each stream

// A CUDA context, the pinned ring and their end take this many bytes' time of the CPU lanes.
constexpr std::uint64_t cuda_pays_after = std::uint64_t{8} << 30;

UsageError bad_lanes(std::string_view text) {
  return UsageError(fmt::format("lanes '{}' are not understood", text),
                    "lanes are auto, or cpu[:THREADS] and cuda[:DEVICE[:STREAMS]] joined by +");
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
  if (fields[0] == "cpu" && fields.size() <= 2) {
    spec.backend = Backend::cpu;
    if (fields.size() > 1) spec.count = parse_number(fields[1], 1, most_threads, text);
  } else if (fields[0] == "cuda" && fields.size() <= 3) {
    spec.backend = Backend::cuda;
    if (fields.size() > 1) spec.device = parse_number(fields[1], 0, most_devices, text);
    if (fields.size() > 2) spec.count = parse_number(fields[2], 1, most_streams, text);
  } else {
    throw bad_lanes(text);
  }
  return spec;
}

// The driver's control device: without it no CUDA device opens, and looking costs nothing.
bool driver_is_present() { return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0; }

bool is_cuda(const LaneSpec& spec) { return spec.backend == Backend::cuda; }

// Fills in the counts that were left open.
void complete(LaneSpec& spec, const RunShape& shape) {
  if (spec.count) return;
  const unsigned cpus = usable_cpus();
  if (is_cuda(spec))
    spec.count = cuda_streams;
  else
    spec.count = shape.lanes_read ? cpus : std::min(cpus, pipe_threads);
}

// Chunks so large, and so many, that every lane has its jobs, and reader and writer have one in hand each and as many
// waiting as they take in the time of a thread's wake-up.
void size_ring(LanePlan& plan, const RunShape& shape) {
  std::size_t jobs = 0;
  bool cuda = false;
  for (const std::vector<LaneSpec>* specs : {&plan.first, &plan.later}) {
    for (const LaneSpec& spec : *specs) {
      const std::size_t devices = is_cuda(spec) && !spec.device ? std::max<std::size_t>(count_cuda_devices(), 1) : 1;
      jobs += devices * *spec.count * (is_cuda(spec) ? cuda_jobs : 1);
      cuda = cuda || is_cuda(spec);
    }
  }
  plan.chunks = cuda ? jobs + 4 : 2 * jobs + 2;
  plan.chunk_bytes = cuda ? cuda_chunk_bytes : cpu_chunk_bytes;
  while (!cuda && plan.chunk_bytes > least_cpu_chunk_bytes && 2 * plan.chunks * plan.chunk_bytes > cpu_ring_bytes)
    plan.chunk_bytes /= 2;
  plan.chunk_bytes = shape.chunk_bytes.value_or(plan.chunk_bytes);
}

}  // namespace

#ifndef GPUAES_WITH_CUDA
std::vector<std::unique_ptr<Lane>> open_cuda_lanes(std::span<const LaneSpec>, const JobMemory&) {
  throw LaneError("this program was built without CUDA", "-l cpu works everywhere");
}
std::size_t count_cuda_devices() { return 0; }
std::vector<std::string> describe_cuda_devices() { return {}; }
#endif

std::vector<LaneSpec> parse_lanes(std::string_view text) {
  std::vector<LaneSpec> specs;
  if (text == "auto") return specs;
  for (const std::string_view part : split(text, '+')) specs.push_back(parse_part(part, text));
  return specs;
}

LanePlan plan_lanes(std::vector<LaneSpec> specs, const RunShape& shape) {
  LanePlan plan;
  plan.first = std::move(specs);
  if (plan.first.empty()) {
    plan.first = {{Backend::cpu, {}, {}}};
    const bool long_enough = shape.input_bytes.value_or(cuda_pays_after) >= cuda_pays_after;
    if (cuda_built_in && long_enough && driver_is_present()) {
      plan.later = {{Backend::cuda, {}, {}}};
      plan.later_after = shape.input_bytes ? 0 : cuda_pays_after;
    }
  }
  for (LaneSpec& spec : plan.first) complete(spec, shape);
  for (LaneSpec& spec : plan.later) complete(spec, shape);
  size_ring(plan, shape);
  return plan;
}

std::vector<std::unique_ptr<Lane>> open_lanes(std::span<const LaneSpec> specs, const JobMemory& jobs) {
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<LaneSpec> cuda;
  for (const LaneSpec& spec : specs) {
    if (is_cuda(spec)) cuda.push_back(spec);
    else std::generate_n(std::back_inserter(lanes), spec.count.value_or(1), make_cpu_lane);
  }
  if (!cuda.empty()) std::ranges::move(open_cuda_lanes(cuda, jobs), std::back_inserter(lanes));
  return lanes;
}

std::string to_string(const LaneSpec& spec) {
  const std::string count = spec.count ? fmt::format(":{}", *spec.count) : "";
  if (!is_cuda(spec)) return "cpu" + count;
  return spec.device ? fmt::format("cuda:{}{}", *spec.device, count) : fmt::format("cuda:*{}", count);
}

std::vector<std::string> describe_lanes() {
  std::vector<std::string> lines{fmt::format("cpu:{}\tlibcrypto, {} threads", usable_cpus(), usable_cpus())};
  if (cuda_built_in && driver_is_present()) std::ranges::move(describe_cuda_devices(), std::back_inserter(lines));
  return lines;
}

}  // namespace gpuaes
