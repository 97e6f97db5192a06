#include "lane/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "lane/auto_lanes.hpp"
#include "lane/cpu_rate.hpp"
#include "system/numa.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

// The number of CPU lanes that outrun any disk.
unsigned lanes_for_disk(const Workload& workload) {
  return 1 +
         static_cast<unsigned>(figures.max_disk / usual_lane_rate(workload.cipher, workload.authenticated));
}

// How many chunks of `chunk_bytes` the input is known to have; at least one.
std::size_t chunks_of(const Workload& workload, std::size_t chunk_bytes) {
  const std::uint64_t whole = workload.parallel_bytes / chunk_bytes;
  return static_cast<std::size_t>(whole + (workload.parallel_bytes % chunk_bytes > 0 || whole == 0));
}

// Named lanes --------------------------------------------------------------------------------------

// The number of devices that finish soonest. Each additional one takes time to open and close.
unsigned fastest_device_count(const Workload& workload, const Machine& machine) {
  if (workload.from_disk) return 1;
  const double link = machine.link_rate().value_or(figures.link);
  const auto seconds = [&](unsigned devices) {
    const double rate = figures.link_use * link * (1 + figures.extra_device_gain * (devices - 1));
    return devices * figures.extra_device_seconds +
           static_cast<double>(workload.parallel_bytes) / std::min(rate, machine.cpus * figures.read);
  };
  unsigned devices = 1;
  while (seconds(devices + 1) < seconds(devices)) ++devices;
  return devices;
}

// Replaces `cuda` without a device by the first devices.
std::vector<LaneSpec> name_devices(const std::vector<LaneSpec>& specs, const Workload& workload,
                                   const Machine& machine) {
  if (specs.size() != 1 || !uses_device(specs[0]) || specs[0].device) return specs;
  unsigned devices = fastest_device_count(workload, machine);
  if (devices > 1) devices = std::max(machine.show_devices(devices), 1u);
  std::vector<LaneSpec> named(devices, specs[0]);
  for (unsigned device = 0; device < devices; ++device) named[device].device = device;
  return named;
}

unsigned count_devices(const std::vector<LaneSpec>& specs) {
  std::set<unsigned> devices;
  for (const LaneSpec& spec : specs)
    if (spec.device) devices.insert(*spec.device);
  return static_cast<unsigned>(devices.size());
}

// The ring -----------------------------------------------------------------------------------------

std::size_t count_jobs(const LaneSpec& spec) {
  return uses_device(spec) ? cuda_jobs_per_lane * *spec.count : *spec.count;
}

// A ring that does not fit in the last-level cache is slower.
std::size_t max_ring_bytes(const Machine& machine, bool device) {
  const double caches = device ? figures.cuda_ring_caches : figures.cpu_ring_caches;
  return std::max(figures.safe_ring_bytes,
                  static_cast<std::size_t>(caches * static_cast<double>(machine.cache_bytes)));
}

// More streams per device would make the ring too large for the cache, even with the smallest chunks.
unsigned max_streams_in_cache(const Machine& machine, unsigned devices, const Workload& workload) {
  const std::size_t chunk_bytes = workload.chunk_bytes.value_or(figures.cuda_file.min_bytes);
  const std::size_t chunks = max_ring_bytes(machine, true) / chunk_bytes;
  const std::size_t jobs = chunks - std::min(chunks, figures.extra_cuda_chunks);
  return static_cast<unsigned>(std::clamp<std::size_t>(
      jobs / (cuda_jobs_per_lane * devices), figures.min_file_streams, figures.max_streams_of_several));
}

void size_ring(LanePlan& plan, const Workload& workload, const Machine& machine) {
  bool device = false;
  for (const std::vector<LaneSpec>* specs : {&plan.first, &plan.later}) {
    for (const LaneSpec& spec : *specs) {
      plan.jobs += count_jobs(spec);
      device = device || uses_device(spec);
    }
  }
  const bool file = is_file(workload);
  const ChunkFigures& chunk =
      device ? (file ? figures.cuda_file : figures.cuda_pipe) : (file ? figures.cpu_file : figures.cpu_pipe);
  std::size_t memory_each;  // buffers per chunk
  if (device) {
    plan.chunks = plan.jobs + figures.extra_cuda_chunks;
    memory_each = 1;
  } else {
    plan.chunks = file ? 2 * plan.jobs + 1 : plan.jobs;  // with a file, no lane waits for a slower one
    memory_each = 2;                                     // input and output
  }
  plan.chunk_bytes = chunk.bytes;
  const auto shrink = [&](std::size_t min_bytes, std::uint64_t max_ring) {
    while (plan.chunk_bytes > min_bytes && memory_each * plan.chunks * plan.chunk_bytes > max_ring)
      plan.chunk_bytes /= 2;
  };
  shrink(chunk.min_bytes, max_ring_bytes(machine, device));
  // For a short file, the first use of a large ring costs more time than large chunks save.
  if (file && !device && !workload.from_disk)
    shrink(figures.short_file_chunk_bytes, workload.parallel_bytes / 8);
  plan.chunk_bytes = workload.chunk_bytes.value_or(plan.chunk_bytes);
  if (file) plan.chunks = std::min(plan.chunks, chunks_of(workload, plan.chunk_bytes));
  // Pinning huge pages is faster, and direct reads into them are much faster. The kernel clears a whole huge
  // page at its first use, which does not pay off for a short input.
  plan.huge_pages = std::ranges::any_of(plan.first, uses_device) ||
                    workload.parallel_bytes >= 2 * plan.chunks * plan.chunk_bytes;
}

// A ring up to this size is assumed to fit: finding the available memory would take longer than it is worth.
constexpr std::uint64_t small_ring_bytes = 32 << 20;

// Uses fewer chunks if they would take more than half of the available memory: a large --chunk-size must not
// cause swapping or get the process killed.
void fit_memory(LanePlan& plan, const Machine& machine) {
  const std::uint64_t each = 2 * std::uint64_t{plan.chunk_bytes};  // input and output
  if (plan.chunks * each <= small_ring_bytes) return;
  const std::uint64_t free = machine.free_memory();
  if (each > free)
    throw IoError(fmt::format("a chunk of {} MiB requires twice as much memory, but only {} MiB is available",
                              plan.chunk_bytes >> 20, free >> 20),
                  Advice::use_smaller_chunks);
  const std::uint64_t room = std::max<std::uint64_t>(free / 2 / each, 1);
  plan.chunks = static_cast<std::size_t>(std::min<std::uint64_t>(plan.chunks, room));
}

}  // namespace

// One CPU reads and writes, the others encrypt. Rounded without lround(), which would be the only reason to
// load libm.
unsigned lanes_for_pipes(const Workload& workload) {
  return static_cast<unsigned>(1.5 +
                               figures.pipe_copy / usual_lane_rate(workload.cipher, workload.authenticated));
}

unsigned cpu_lane_count(unsigned cpus, const Workload& workload) {
  if (!is_file(workload)) return std::min(cpus, lanes_for_pipes(workload));
  if (!workload.from_disk) return cpus;
  return std::clamp(cpus, figures.min_disk_lanes, std::max(figures.min_disk_lanes, lanes_for_disk(workload)));
}

// Between pipes, one stream reads and one writes; the device could serve more, but they would not help.
// Opening a stream takes time, so there are no more streams than chunks.
unsigned cuda_stream_count(const Machine& machine, unsigned devices, const Workload& workload) {
  if (!is_file(workload)) return figures.pipe_streams;
  const unsigned max =
      devices > 1 ? max_streams_in_cache(machine, devices, workload) : figures.max_file_streams;
  const unsigned streams = workload.from_disk
                               ? figures.min_file_streams
                               : std::clamp(machine.cpus / devices, figures.min_file_streams, max);
  const std::size_t chunk_bytes = workload.chunk_bytes.value_or(figures.cuda_file.bytes);
  return static_cast<unsigned>(std::min<std::size_t>(streams, chunks_of(workload, chunk_bytes)));
}

Machine this_machine(const Workload& workload) {
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const bool counts = is_file(workload) || lanes_for_pipes(workload) > 2;
  return {
      .cpus = counts ? usable_cpus() : bound_cpus(),
      .cache_bytes = cache > 0 ? static_cast<std::size_t>(cache) : 0,
      .cuda = workload.cuda && cuda_may_open(),
      .free_memory = available_memory,
      .show_devices = show_first_devices,
      .cpu_lane_rate = [](const Workload& run) { return measure_cpu_lane(run.cipher, run.authenticated); },
      .link_rate = [] { return fastest_gpu_link(); }};
}

LanePlan plan_lanes(const LaneChoice& choice, const Workload& workload, const Machine& machine) {
  LanePlan plan;
  plan.first = name_devices(choice.named, workload, machine);
  if (plan.first.empty()) (choice.low_cpu ? choose_low_cpu : choose_fastest)(plan, workload, machine);
  const unsigned devices = count_devices(plan.first);
  for (LaneSpec& spec : plan.first)
    if (!spec.count) spec.count = info(spec.backend).default_count(machine, devices, workload);
  size_ring(plan, workload, machine);
  fit_memory(plan, machine);
  return plan;
}

}  // namespace gpuaes
