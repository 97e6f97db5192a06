#include "lane/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "lane/cpu_libraries.hpp"
#include "system/numa.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

// Figures -----------------------------------------------------------------------------------------

// Measured with files in the page cache on a host with NVIDIA H200 devices (PCIe 5, Intel Xeon), using 1 to
// 64 cores and 1 to 4 devices. What differs most between machines is not here: -l auto measures how fast CPU
// lanes are, and looks up the speed of the link.
namespace figures {

// Bytes of plaintext in a chunk: the default, and the minimum if chunks shrink to keep the ring in the cache.
struct Chunk {
  std::size_t bytes, min_bytes;
};

// A chunk of a file fits in a core's L2 cache. Between pipes, one lane reads or writes while the others
// encrypt, each with one chunk in its cache; larger chunks were slower. Chunks for CUDA lanes must be large
// enough to be worth a launch.
constexpr Chunk cpu_file{.bytes = cpu_file_chunk_bytes, .min_bytes = 64 << 10};
constexpr Chunk cpu_pipe{.bytes = cpu_pipe_chunk_bytes, .min_bytes = 64 << 10};
constexpr Chunk cuda_file{.bytes = 4 << 20, .min_bytes = 2 << 20};
constexpr Chunk cuda_pipe{.bytes = 1 << 20, .min_bytes = 1 << 20};
constexpr std::size_t short_file_chunk_bytes = 256 << 10;  // the minimum on CPU lanes for a short file

constexpr std::size_t safe_ring_bytes = 96 << 20;  // rings up to this size are fast with any cache
constexpr double cpu_ring_caches = 1.0 / 3;        // maximum ring size as a multiple of the last-level cache
constexpr double cuda_ring_caches = 0.43;
constexpr std::size_t extra_cuda_chunks = 4;  // in addition to the jobs in flight, for reading and writing

// CPU lanes for a file in the page cache: one per CPU, up to this number. With more, memory is the limit: on
// hosts with 64 CPUs, 32 to 48 lanes were faster than 64, with every cipher.
constexpr unsigned all_cpus = 32;
constexpr double use_of_more = 0.75;  // the largest fraction of a larger number of CPUs
constexpr double max_memory = 170e9;  // bytes per second of lanes at their usual rate

// CPU lanes for a file that is not in the page cache: while one waits for the disk, another one encrypts. If
// only the output is on a disk, one lane at a time waits for it.
constexpr unsigned min_disk_lanes = 4;
// Of the fastest disks. With lanes for more, reading was slower and the ciphers used more CPU time.
constexpr double max_disk = 30e9;  // bytes per second

// CUDA streams per device for a file: while one thread waits, another one reads. A single device gets one per
// CPU, but at most 8, or one for every four CPUs if that is more. Several devices share the CPUs.
constexpr unsigned min_file_streams = 4, one_per_cpu_streams = 8, max_file_streams = 14;
constexpr unsigned pipe_streams = 2;  // per device

// Bytes per second.
constexpr double usual_disk = 3e9;
constexpr double read = 5.5e9;           // one CPU reading from the page cache
constexpr double pipe_copy = 3.6e9;      // copying from pipe to pipe on one CPU
constexpr double cuda_pipe_max = 2.3e9;  // CUDA lanes between pipes
constexpr double link = 64e9;            // of a device if the system does not say
constexpr double link_use = 0.7;         // the fraction of it that copies in both directions reach

// What an additional device adds to the rate, as a fraction of the rate of one, and to the time for starting
// and ending CUDA. With several, memory is the limit (cuda/PERFORMANCE.md).
constexpr double extra_device_gain = 0.5, extra_device_seconds = 0.34;
constexpr double max_devices_memory = 75e9;  // bytes per second

constexpr std::uint64_t min_cuda_file = 1 << 30;  // bytes of the smallest file for which auto considers CUDA
constexpr double open_seconds = 0.45;             // to open CUDA lanes
constexpr double end_seconds = 0.05;              // that CUDA lanes add at the end of the program
constexpr double min_gain = 1.3;  // required from CUDA: the expected rates are not accurate enough for less

// CPU seconds for opening and closing CUDA lanes, and for each byte between pipes in addition to what CPU
// lanes need for the transfers.
constexpr double cuda_start_cpu = 0.3, cuda_pipe_cpu = 0.6e-9;

// Bytes per second of one CPU lane, with its input and output: for the number of lanes that keep up with a
// pipe or a disk. Those of Kuznyechik were measured on an AMD EPYC with AVX2 (Zen 3).
double usual_lane_rate(const Workload& workload) {
  switch (info(workload.cipher).family) {
    case Family::aes:
      return workload.authenticated ? 4.3e9 : 3.4e9;
    case Family::kuznyechik:
      return workload.authenticated ? 0.24e9 : 0.51e9;
    case Family::chacha20:
      return 1.9e9;
  }
  refuse_cipher(workload.cipher);
}

}  // namespace figures

// The workload ------------------------------------------------------------------------------------

bool is_file(const Workload& workload) {
  return workload.parallel_bytes > 0;
}

bool is_limited_by_disk(const Workload& workload) {
  return workload.from_disk || workload.to_disk;
}

// The number of CPU lanes that outrun any pipe: one CPU reads and writes, the others encrypt. Rounded without
// lround(), which would be the only reason to load libm.
unsigned lanes_for_pipes(const Workload& workload) {
  return static_cast<unsigned>(1.5 + figures::pipe_copy / figures::usual_lane_rate(workload));
}

// The number of CPU lanes that outrun a disk or memory with that rate.
unsigned lanes_for(double bytes_per_second, const Workload& workload) {
  return 1 + static_cast<unsigned>(bytes_per_second / figures::usual_lane_rate(workload));
}

// How many chunks of `chunk_bytes` a file has.
std::size_t chunks_of(const Workload& file, std::size_t chunk_bytes) {
  return static_cast<std::size_t>(1 + (file.parallel_bytes - 1) / chunk_bytes);
}

// Named lanes --------------------------------------------------------------------------------------

// The number of devices that finish soonest. Each additional one takes time to open and close.
unsigned fastest_device_count(const Workload& workload, const Machine& machine) {
  if (is_limited_by_disk(workload)) return 1;
  const double link = machine.link_rate().value_or(figures::link);
  const auto seconds = [&](unsigned devices) {
    const double links = figures::link_use * link * (1 + figures::extra_device_gain * (devices - 1));
    const double rate = std::min({links, machine.cpus * figures::read, figures::max_devices_memory});
    return devices * figures::extra_device_seconds + static_cast<double>(workload.parallel_bytes) / rate;
  };
  unsigned devices = 1;
  while (seconds(devices + 1) < seconds(devices)) ++devices;
  return devices;
}

// Replaces `cuda` without a device by the first devices, as many as pay off.
std::vector<LaneSpec> name_devices(const std::vector<LaneSpec>& specs, const Workload& workload,
                                   const Machine& machine) {
  if (specs.size() != 1 || !uses_device(specs[0]) || specs[0].device) return specs;
  unsigned devices = fastest_device_count(workload, machine);
  if (devices > 1) devices = std::clamp(machine.known_devices().value_or(1), 1u, devices);
  std::vector<LaneSpec> named(devices, specs[0]);
  for (unsigned device = 0; device < devices; ++device) named[device].device = device;
  return named;
}

// The devices of the specs, in order and each once.
std::vector<unsigned> devices_of(const std::vector<LaneSpec>& specs) {
  std::vector<unsigned> devices;
  for (const LaneSpec& spec : specs)
    if (spec.device && std::ranges::find(devices, *spec.device) == devices.end())
      devices.push_back(*spec.device);
  return devices;
}

void check_devices_exist(const std::vector<LaneSpec>& specs, const Machine& machine) {
  for (const LaneSpec& spec : specs) {
    if (spec.shown_as || spec.device.value_or(0) == 0) continue;  // opening it reports the reason
    const unsigned known = machine.known_devices().value_or(0);
    if (known > 0 && *spec.device >= known) throw no_such_device(spec, known);
  }
}

// The run waits for the first device to open; others join it, if that pays off.
void use_named(LanePlan& plan, const LaneChoice& choice, const Workload& workload, const Machine& machine) {
  check_devices_exist(choice.named, machine);
  const std::vector<LaneSpec> specs = name_devices(choice.named, workload, machine);
  std::vector<unsigned> devices = devices_of(specs);
  if (devices.size() > 1 && !choice.all_devices) {
    const std::size_t useful = std::min<std::size_t>(devices.size(), fastest_device_count(workload, machine));
    if (useful < devices.size())
      plan.reason = fmt::format("using more than {} is not likely to be faster", counted(useful, "device"));
    devices.resize(useful);
  }
  for (LaneSpec spec : specs) {
    const auto device = std::ranges::find(devices, spec.device);
    if (uses_device(spec) && device == devices.end()) continue;
    if (uses_device(spec) && !spec.count)
      spec.count = cuda_stream_count(machine, static_cast<unsigned>(devices.size()), workload);
    (uses_device(spec) && device != devices.begin() ? plan.joining : plan.first).push_back(spec);
  }
}

// Lanes that -l auto chooses ----------------------------------------------------------------------

std::string gigabytes(double bytes) {
  return fmt::format("{:.1f} GB", bytes / 1e9);
}

// Number of CPU lanes for the least CPU time per byte. Two CPUs that share a core use more of it for the
// same work. Between pipes, so does a lane that always waits for its turn.
unsigned low_cpu_lane_count(unsigned cpus, const Workload& workload) {
  if (is_file(workload)) return cpu_lane_count((cpus + 1) / 2, workload);
  return std::max(cpu_lane_count(cpus, workload), 2u) - 1;
}

bool is_too_short(const Workload& workload) {
  return is_file(workload) && workload.parallel_bytes < figures::min_cuda_file;
}

// Two lanes keep up with pipes: one reads and writes while the other encrypts.
bool is_fast_between_pipes(const Workload& workload) {
  return !is_file(workload) && lanes_for_pipes(workload) <= 2;
}

// Why CUDA is not considered, if that is clear without a measurement; otherwise empty.
std::string reason_against_cuda(const Workload& workload, const Machine& machine) {
  if (is_fast_between_pipes(workload) || (!is_file(workload) && machine.cpus >= lanes_for_pipes(workload)))
    return fmt::format("auto: CPU threads take turns reading the input, which keeps at most {} of them busy",
                       lanes_for_pipes(workload));
  if (!machine.cuda) return "auto: there is no CUDA device";
  if (is_too_short(workload)) return "auto: the file is too short to start CUDA";
  return {};
}

// CPUs for CPU lanes while CUDA opens, which takes longer if all are busy. Between pipes, CUDA opens later or
// not at all.
unsigned opening_cpus(unsigned cpus, const Workload& workload) {
  return is_file(workload) ? cpus - 1 : cpus;
}

// A file on a single CPU begins with CUDA lanes.
void let_cuda_take_over(LanePlan& plan, const Workload& workload, const Machine& machine) {
  const LaneSpec cuda{Backend::cuda, 0, cuda_stream_count(machine, 1, workload)};
  plan.instead = {{Backend::cpu, {}, cpu_lane_count(machine.cpus, workload)}};
  if (const unsigned cpus = opening_cpus(machine.cpus, workload); cpus > 0) {
    plan.first = {{Backend::cpu, {}, cpu_lane_count(cpus, workload)}};
    plan.later = {cuda};
  } else {
    plan.first = {cuda};
  }
}

// With a file, a run that uses CUDA begins with it: CPU lanes would do much of the work while CUDA lanes
// open.
void choose_low_cpu(LanePlan& plan, const Workload& workload, const Machine& machine) {
  const LaneSpec cpu{Backend::cpu, {}, low_cpu_lane_count(machine.cpus, workload)};
  plan.first = {cpu};
  if (!machine.cuda || is_too_short(workload) || is_fast_between_pipes(workload)) {
    plan.reason =
        machine.cuda ? "auto:low-cpu: CUDA would not save CPU time" : "auto:low-cpu: there is no CUDA device";
    return;
  }
  const double lane = machine.cpu_lane_rate(workload);
  const std::optional<std::uint64_t> enough = bytes_until_cuda_saves(lane, workload);
  const std::string from = gigabytes(static_cast<double>(enough.value_or(0)));
  if (!enough) {
    plan.reason = "auto:low-cpu: CUDA would not save CPU time";
  } else if (!is_file(workload)) {
    plan.later = {{Backend::cuda, 0, figures::pipe_streams}};
    plan.later_from = *enough;
    plan.reason =
        fmt::format("auto:low-cpu: CUDA takes over after {}, where it begins to save CPU time", from);
  } else if (workload.parallel_bytes < *enough) {
    plan.reason = fmt::format("auto:low-cpu: CUDA saves CPU time only for files of at least {}", from);
  } else {
    const unsigned streams = std::min(cuda_stream_count(machine, 1, workload), figures::min_file_streams);
    plan.first = {{Backend::cuda, 0, streams}};
    plan.instead = {cpu};
    plan.reason = fmt::format("auto:low-cpu: CUDA saves CPU time for files of at least {}", from);
  }
}

// A run uses at most one device: a host with several has enough CPUs to do without the others, and each takes
// time to open.
void choose_fastest(LanePlan& plan, const Workload& workload, const Machine& machine) {
  plan.first = {{Backend::cpu, {}, {}}};
  plan.reason = reason_against_cuda(workload, machine);
  if (!plan.reason.empty()) return;
  const double lane = machine.cpu_lane_rate(workload);
  const std::optional<double> link = machine.link_rate();
  const Speeds expected = expected_speeds(machine.cpus, lane, link.value_or(figures::link), workload);
  const std::optional<std::uint64_t> enough =
      bytes_until_cuda_pays(machine.cpus, opening_cpus(machine.cpus, workload), expected);
  const std::string from = gigabytes(static_cast<double>(enough.value_or(0)));
  std::string verdict = fmt::format("is likely to be faster from {}", from);
  if (!enough) {
    verdict = "is not likely to be faster";
  } else if (is_file(workload) && workload.parallel_bytes < *enough) {
    verdict = fmt::format("is likely to be faster only from {}", from);
  } else {
    let_cuda_take_over(plan, workload, machine);
    plan.later_from = is_file(workload) ? 0 : *enough;
  }
  plan.reason = fmt::format(
      "auto: with {}, CUDA {}; a CPU thread encrypts {}/s, and the speed of the link is {}",
      counted(machine.cpus, "CPU"), verdict, gigabytes(lane), link ? gigabytes(*link) + "/s" : "unknown");
}

// The ring -----------------------------------------------------------------------------------------

std::size_t count_jobs(const LaneSpec& spec) {
  return uses_device(spec) ? cuda_jobs_per_lane * *spec.count : *spec.count;
}

// A ring that does not fit in the last-level cache is slower.
std::size_t max_ring_bytes(const Machine& machine, bool device) {
  const double caches = device ? figures::cuda_ring_caches : figures::cpu_ring_caches;
  return std::max(figures::safe_ring_bytes,
                  static_cast<std::size_t>(caches * static_cast<double>(machine.cache_bytes)));
}

// More streams per device would make the ring too large for the cache, even with the smallest chunks.
unsigned max_streams_in_cache(const Machine& machine, unsigned devices, const Workload& workload) {
  const std::size_t chunk_bytes = workload.chunk_bytes.value_or(figures::cuda_file.min_bytes);
  const std::size_t chunks = max_ring_bytes(machine, true) / chunk_bytes;
  const std::size_t jobs = chunks - std::min(chunks, figures::extra_cuda_chunks);
  return static_cast<unsigned>(std::clamp<std::size_t>(jobs / (cuda_jobs_per_lane * devices),
                                                       figures::min_file_streams, figures::max_file_streams));
}

void size_ring(LanePlan& plan, const Workload& workload, const Machine& machine) {
  bool device = false;
  for (const std::vector<LaneSpec>* specs : {&plan.first, &plan.joining, &plan.later}) {
    for (const LaneSpec& spec : *specs) {
      plan.jobs += count_jobs(spec);
      device = device || uses_device(spec);
    }
  }
  const bool file = is_file(workload);
  const figures::Chunk& chunk = device ? (file ? figures::cuda_file : figures::cuda_pipe)
                                       : (file ? figures::cpu_file : figures::cpu_pipe);
  std::size_t memory_each;  // buffers per chunk
  if (device) {
    plan.chunks = plan.jobs + figures::extra_cuda_chunks;
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
  if (file && !device && !is_limited_by_disk(workload))
    shrink(figures::short_file_chunk_bytes, workload.parallel_bytes / 8);
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

unsigned cpu_lane_count(unsigned cpus, const Workload& workload) {
  if (!is_file(workload)) return std::min(cpus, lanes_for_pipes(workload));
  if (workload.from_disk)
    return std::clamp(cpus, figures::min_disk_lanes,
                      std::max(figures::min_disk_lanes, lanes_for(figures::max_disk, workload)));
  unsigned lanes = cpus;
  if (cpus > figures::all_cpus) {
    const auto most = static_cast<unsigned>(figures::use_of_more * cpus);
    lanes = std::max(figures::all_cpus, std::min(most, lanes_for(figures::max_memory, workload)));
  }
  return workload.to_disk ? std::min(lanes, lanes_for(figures::max_disk, workload)) : lanes;
}

// Between pipes, one stream reads and one writes; the device could serve more, but they would not help.
// Opening a stream takes time, so there are no more streams than chunks.
unsigned cuda_stream_count(const Machine& machine, unsigned devices, const Workload& workload) {
  if (!is_file(workload)) return figures::pipe_streams;
  const unsigned cpus = machine.cpus;
  const unsigned wanted =
      devices > 1 ? cpus / devices : std::max(std::min(cpus, figures::one_per_cpu_streams), cpus / 4);
  const unsigned max =
      devices > 1 ? max_streams_in_cache(machine, devices, workload) : figures::max_file_streams;
  const unsigned streams =
      workload.from_disk ? figures::min_file_streams : std::clamp(wanted, figures::min_file_streams, max);
  const std::size_t chunk_bytes = workload.chunk_bytes.value_or(figures::cuda_file.bytes);
  return static_cast<unsigned>(std::min<std::size_t>(streams, chunks_of(workload, chunk_bytes)));
}

Machine this_machine(const Workload& workload, const LaneChoice& choice) {
  const auto is_counted = [](const LaneSpec& spec) { return spec.count && !uses_device(spec); };
  const bool all_counted = !choice.named.empty() && std::ranges::all_of(choice.named, is_counted);
  const bool counts = !all_counted && (is_file(workload) || lanes_for_pipes(workload) > 2);
  return {.cpus = counts ? usable_cpus() : bound_cpus(),
          .cache_bytes = cache_bytes(),
          .cuda = workload.cuda && cuda_may_open(),
          .free_memory = available_memory,
          .known_devices = known_cuda_devices,
          .cpu_lane_rate =
              [](const Workload& load) {
                const CpuRates rates = measure_cpu(load.cipher, load.authenticated);
                return std::max(rates.libcrypto, rates.libgcrypt);
              },
          .link_rate = [] { return fastest_gpu_link(); }};
}

LanePlan plan_lanes(const LaneChoice& choice, const Workload& workload, const Machine& machine) {
  LanePlan plan;
  if (choice.named.empty())
    (choice.low_cpu ? choose_low_cpu : choose_fastest)(plan, workload, machine);
  else
    use_named(plan, choice, workload, machine);
  for (LaneSpec& spec : plan.first)
    if (!spec.count) spec.count = cpu_lane_count(machine.cpus, workload);
  size_ring(plan, workload, machine);
  fit_memory(plan, machine);
  return plan;
}

Speeds expected_speeds(unsigned cpus, double lane, double link, const Workload& workload) {
  link *= figures::link_use;
  if (!is_file(workload)) {
    // The programs at the other ends use about as much CPU time as the filter does for reading and writing.
    // CUDA lanes use that amount again for transfers over the link.
    const double copy = 1 / figures::pipe_copy;  // CPU seconds per byte
    return {std::min(cpus / (2 * copy + 1 / lane), figures::pipe_copy),
            std::min({cpus / (3 * copy), figures::cuda_pipe_max, link})};
  }
  if (is_limited_by_disk(workload))  // direct reading and writing take little CPU time
    return {std::min(cpus * lane, figures::usual_disk), std::min(figures::usual_disk, link)};
  const double read = 1 / figures::read;  // CPU seconds per byte
  return {cpu_lane_count(cpus, workload) / (read + 1 / lane), std::min(cpus / read, link)};
}

std::optional<std::uint64_t> bytes_until_cuda_pays(unsigned cpus, unsigned opening_cpus,
                                                   const Speeds& expected) {
  const auto [cpu, cuda] = expected;
  if (cuda < figures::min_gain * cpu) return std::nullopt;
  const double done = opening_cpus * cpu / (cpus * cuda);  // of what CUDA lanes would do in the same time
  const double lost = figures::open_seconds * (1 - done) + figures::end_seconds;
  return static_cast<std::uint64_t>(lost / (1 / cpu - 1 / cuda));
}

bool later_lanes_continue(const Observed& observed) {
  return observed.later * observed.first_lanes >= observed.first * observed.all_lanes;
}

std::optional<std::uint64_t> bytes_until_cuda_saves(double lane, const Workload& workload) {
  const double saved = 1 / lane - (is_file(workload) ? 0 : figures::cuda_pipe_cpu);  // CPU seconds per byte
  if (saved <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(figures::cuda_start_cpu / saved);
}

}  // namespace gpuaes
