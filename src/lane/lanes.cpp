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

// Lanes that read files in parallel: a chunk stays in a core's L2 cache, and some more chunks than lanes let
// none wait for a slower one. The ring stays below 96 MiB.
constexpr std::size_t file_chunk_bytes = 1 << 20;
constexpr std::size_t most_cpu_ring_bytes = 96 << 20;
constexpr std::size_t least_chunk_bytes = 64 << 10;

// Pipes: one lane reads or writes while the other encrypts, each in the one chunk that it keeps in its cache.
// More lanes, more chunks and larger ones were all slower (pipeline/ring.hpp).
constexpr unsigned pipe_threads = 2;
constexpr std::size_t pipe_chunk_bytes = 256 << 10;

// CUDA lanes: chunks large enough to be worth a launch and small enough for the last-level cache.
constexpr std::size_t cuda_file_chunk_bytes = 4 << 20;
constexpr std::size_t cuda_pipe_chunk_bytes = 1 << 20;
constexpr unsigned most_file_streams = 12;  // and no more than CPUs, whose threads read for them
constexpr unsigned cuda_pipe_streams = 2;
constexpr unsigned cuda_jobs = 2;  // in flight for each stream

UsageError bad_lanes(std::string_view text) {
  return UsageError(fmt::format("lanes '{}' are not understood", text),
                    fmt::format("lanes are auto, or cpu[:THREADS], reference[:THREADS] and "
                                "cuda[:DEVICE[:STREAMS]] joined by +, with at most {} threads and {} streams",
                                most_threads, most_streams));
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
bool driver_is_present() {
  return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

bool is_cuda(const LaneSpec& spec) {
  return spec.backend == Backend::cuda;
}

// Fills in the count that was left open.
void complete(LaneSpec& spec, unsigned cpus, const RunShape& shape) {
  if (spec.count) return;
  if (is_cuda(spec))
    spec.count = shape.lanes_read ? std::min(cpus, most_file_streams) : cuda_pipe_streams;
  else if (spec.backend == Backend::reference)
    spec.count = 1;
  else
    spec.count = shape.lanes_read ? cpus : std::min(cpus, pipe_threads);
}

std::size_t count_jobs(const LaneSpec& spec) {
  if (!is_cuda(spec)) return *spec.count;
  const std::size_t devices = spec.device ? 1 : std::max<std::size_t>(count_cuda_devices(), 1);
  return devices * *spec.count * cuda_jobs;
}

void size_ring(LanePlan& plan, const RunShape& shape) {
  std::size_t jobs = 0;
  bool cuda = false;
  for (const std::vector<LaneSpec>* specs : {&plan.first, &plan.later}) {
    for (const LaneSpec& spec : *specs) {
      jobs += count_jobs(spec);
      cuda = cuda || is_cuda(spec);
    }
  }
  if (cuda) {
    plan.chunks = jobs + 4;
    plan.chunk_bytes = shape.lanes_read ? cuda_file_chunk_bytes : cuda_pipe_chunk_bytes;
  } else {
    plan.chunks = shape.lanes_read ? 2 * jobs + 1 : jobs;
    plan.chunk_bytes = shape.lanes_read ? file_chunk_bytes : pipe_chunk_bytes;
    while (plan.chunk_bytes > least_chunk_bytes && 2 * plan.chunks * plan.chunk_bytes > most_cpu_ring_bytes)
      plan.chunk_bytes /= 2;
  }
  plan.chunk_bytes = shape.chunk_bytes.value_or(plan.chunk_bytes);
}

// After how many bytes of input CUDA lanes would be done earlier than CPU lanes that go on, if ever. The
// rates, in bytes a second, were measured with an H200 and 1 to 16 CPUs on a file in the page cache
// (AES-256). Between two pipes CPU lanes made 3.5 and CUDA lanes 2.0 GB/s: there they never are.
std::optional<std::uint64_t> bytes_until_cuda_pays(unsigned cpus, const RunShape& shape) {
  constexpr double cpu_lane = 3.2e9, cuda_for_each_cpu = 5.8e9, cuda_most = 38e9;
  // To start a context, to pin the ring and to end: 0.4, and more on CPUs that are at work.
  constexpr double context_seconds = 0.6;
  if (!shape.lanes_read) return std::nullopt;
  const double cpu = cpu_lane * cpus;
  const double cuda = std::min(cuda_for_each_cpu * cpus, cuda_most);
  if (cuda <= cpu) return std::nullopt;
  return static_cast<std::uint64_t>(context_seconds / (1 / cpu - 1 / cuda));
}

}  // namespace

#ifndef GPUAES_WITH_CUDA
std::vector<std::unique_ptr<Lane>> open_cuda_lanes(std::span<const LaneSpec>, const JobMemory&) {
  throw LaneError("this program was built without CUDA", "-l cpu works everywhere");
}
std::size_t count_cuda_devices() {
  return 0;
}
std::vector<std::string> describe_cuda_devices() {
  return {};
}
#endif

std::vector<LaneSpec> parse_lanes(std::string_view text) {
  std::vector<LaneSpec> specs;
  if (text == "auto") return specs;
  for (const std::string_view part : split(text, '+')) specs.push_back(parse_part(part, text));
  return specs;
}

LanePlan plan_lanes(std::vector<LaneSpec> specs, const RunShape& shape) {
  const unsigned cpus = usable_cpus();
  LanePlan plan;
  plan.first = std::move(specs);
  if (plan.first.empty()) {
    plan.first = {{Backend::cpu, {}, {}}};
    const std::optional<std::uint64_t> enough = bytes_until_cuda_pays(cpus, shape);
    if (cuda_built_in && enough && shape.input_bytes >= *enough && driver_is_present())
      plan.later = {{Backend::cuda, 0, {}}};  // by number: counting devices takes a tenth of a second
  }
  for (LaneSpec& spec : plan.first) complete(spec, cpus, shape);
  for (LaneSpec& spec : plan.later) complete(spec, cpus, shape);
  size_ring(plan, shape);
  return plan;
}

std::vector<std::unique_ptr<Lane>> open_lanes(std::span<const LaneSpec> specs, const JobMemory& jobs) {
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<LaneSpec> cuda;
  for (const LaneSpec& spec : specs) {
    if (is_cuda(spec))
      cuda.push_back(spec);
    else
      std::generate_n(std::back_inserter(lanes), spec.count.value_or(1),
                      spec.backend == Backend::cpu ? make_cpu_lane : make_reference_lane);
  }
  if (!cuda.empty()) std::ranges::move(open_cuda_lanes(cuda, jobs), std::back_inserter(lanes));
  return lanes;
}

std::string to_string(const LaneSpec& spec) {
  const std::string count = spec.count ? fmt::format(":{}", *spec.count) : "";
  if (!is_cuda(spec)) return (spec.backend == Backend::cpu ? "cpu" : "reference") + count;
  return spec.device ? fmt::format("cuda:{}{}", *spec.device, count) : fmt::format("cuda:*{}", count);
}

std::vector<std::string> describe_lanes() {
  std::vector<std::string> lines{fmt::format("cpu:{}\tlibcrypto, {} threads", usable_cpus(), usable_cpus())};
  if (cuda_built_in && driver_is_present())
    std::ranges::move(describe_cuda_devices(), std::back_inserter(lines));
  return lines;
}

}  // namespace gpuaes
