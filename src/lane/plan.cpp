#include "lane/plan.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/texts.hpp"

namespace gpuaes {
namespace {

// Lanes that read files in parallel: a chunk stays in a core's L2 cache, and some more chunks than lanes let
// none wait for a slower one.
constexpr std::size_t file_chunk_bytes = 1 << 20;
constexpr std::size_t min_file_chunk_bytes = 64 << 10;

// Pipes: one lane reads or writes while the others encrypt, each in the one chunk that it keeps in its cache.
// With AES, where two lanes are enough, more lanes, more chunks and larger ones were all slower
// (pipeline/ring.hpp).
constexpr std::size_t pipe_chunk_bytes = 256 << 10;

// CUDA lanes: chunks large enough to be worth a launch. Of a file eight streams with two jobs in flight fill
// the link of one device: 47 GB/s with 4 MiB, 44 with 2 MiB, 34 with 1 MiB (H200; 4 streams 31, 16 streams
// 46).
constexpr std::size_t min_cuda_file_chunk_bytes = 2 << 20;
constexpr std::size_t cuda_pipe_chunk_bytes = 1 << 20;
constexpr unsigned max_file_streams = 8;
constexpr unsigned min_file_streams = 4;  // also of fewer CPUs: while one thread waits another one reads
constexpr unsigned cuda_pipe_streams = 2;
constexpr unsigned cuda_jobs = 2;  // in flight for each stream

// A ring that leaves the last-level cache is slower: 62 instead of 102 GB/s of four H200 with 4 MiB instead
// of 2 MiB chunks, 272 and 136 MiB in all, with a cache of 300 MiB.
// CPU lanes need more of it for each byte that is under way, and with chunks below 1 MiB 64 of them wait for
// each other: 93 instead of 53 GB/s raw, 77 instead of 51 sealed.
std::size_t max_ring_bytes(const Machine& machine, bool cuda) {
  return std::max<std::size_t>(96 << 20, cuda ? machine.cache_bytes / 2 : machine.cache_bytes);
}

bool is_cuda(const LaneSpec& spec) {
  return spec.backend == Backend::cuda;
}

// What lanes make, in bytes a second: of CPU lanes one, and the most that a host's memory lets them make of a
// file in the page cache; of CUDA lanes the most; and the most of both together. Measured with AES-256, an
// H200 and 1 to 16 CPUs of its host, and 64 for the most that CPUs make. A CPU has Kuznyechik with AVX2 (Zen
// 3); what a device makes of it was measured too.
struct Rates {
  double each_cpu, max_cpus;
  double max_cuda;
  double max_together;
};
constexpr Rates aes_counter_mode{3.4e9, 92e9, 44e9, 66e9}, aes_gcm{4.3e9, 85e9, 44e9, 60e9};
constexpr Rates kuznyechik_counter_mode{0.51e9, 92e9, 44e9, 66e9}, kuznyechik_mgm{0.24e9, 85e9, 38e9, 60e9};

const Rates& rates_of(const RunShape& shape) {
  switch (info(shape.cipher).family) {
    case Family::aes:
      return shape.authenticated ? aes_gcm : aes_counter_mode;
    case Family::kuznyechik:
      return shape.authenticated ? kuznyechik_mgm : kuznyechik_counter_mode;
  }
  refuse_cipher(shape.cipher);
}

// What a filter that only copies makes between two pipes (H200 host), which takes it a CPU.
constexpr double pipe_rate = 3.6e9;

// CPU lanes that outrun any pipe: one CPU's time goes with reading and writing, the others encipher. 2 with
// AES, 8 and 16 with Kuznyechik.
unsigned lanes_for_pipes(const RunShape& shape) {
  return static_cast<unsigned>(std::lround(1 + pipe_rate / rates_of(shape).each_cpu));
}

// Streams of a device for a file.
unsigned file_streams(unsigned cpus, const Tuning& tuning) {
  return tuning.streams > 0 ? tuning.streams : std::clamp(cpus, min_file_streams, max_file_streams);
}

// Fills in the count that was left open. Between pipes one stream reads and one writes, however many more the
// device would have work for.
void complete(LaneSpec& spec, unsigned cpus, const RunShape& shape, const Tuning& tuning) {
  if (spec.count) return;
  const bool file = shape.shared_bytes > 0;
  if (is_cuda(spec))
    spec.count = file ? file_streams(cpus, tuning) : cuda_pipe_streams;
  else if (spec.backend == Backend::reference)
    spec.count = 1;
  else
    spec.count = file ? cpus : std::min(cpus, lanes_for_pipes(shape));
}

std::size_t count_jobs(const LaneSpec& spec) {
  if (!is_cuda(spec)) return *spec.count;
  const std::size_t devices = spec.device ? 1 : std::max<std::size_t>(count_cuda_devices(), 1);
  return devices * *spec.count * cuda_jobs;
}

void size_ring(LanePlan& plan, const RunShape& shape, const Machine& machine) {
  bool cuda = false;
  for (const std::vector<LaneSpec>* specs : {&plan.first, &plan.later}) {
    for (const LaneSpec& spec : *specs) {
      plan.jobs += count_jobs(spec);
      cuda = cuda || is_cuda(spec);
    }
  }
  const bool file = shape.shared_bytes > 0;
  std::size_t least = 0;
  std::size_t memory_each = 1;  // chunks' worth of memory
  if (cuda) {
    plan.chunks = plan.jobs + 4;
    plan.chunk_bytes = file ? cuda_file_chunk_bytes : cuda_pipe_chunk_bytes;
    least = file ? min_cuda_file_chunk_bytes : plan.chunk_bytes;
  } else {
    plan.chunks = file ? 2 * plan.jobs + 1 : plan.jobs;
    plan.chunk_bytes = file ? file_chunk_bytes : pipe_chunk_bytes;
    least = min_file_chunk_bytes;
    memory_each = 2;  // input and output
  }
  while (plan.chunk_bytes > least &&
         memory_each * plan.chunks * plan.chunk_bytes > max_ring_bytes(machine, cuda))
    plan.chunk_bytes /= 2;
  plan.chunk_bytes = shape.chunk_bytes.value_or(plan.chunk_bytes);
}

// Not worth a look.
constexpr std::uint64_t min_memory = 32 << 20;

// Fewer chunks where they would take more than half of the memory that is there: a chunk size that somebody
// named must not end in swapping, or with a process that is killed.
void fit_memory(LanePlan& plan, const Machine& machine) {
  const std::uint64_t each = 2 * std::uint64_t{plan.chunk_bytes};  // input and output
  if (plan.chunks * each <= min_memory) return;
  const std::uint64_t free = machine.free_memory();
  if (each > free)
    throw IoError(fmt::format(text::chunk_too_large, plan.chunk_bytes >> 20, free >> 20),
                  text::smaller_chunks_hint);
  const std::uint64_t room = std::max<std::uint64_t>(free / 2 / each, 1);
  plan.chunks = static_cast<std::size_t>(std::min<std::uint64_t>(plan.chunks, room));
}

// Only AES kernels were tuned.
Tuning find_tuning(const RunShape& shape, const Machine& machine) {
  return info(shape.cipher).family == Family::aes ? machine.tuning() : Tuning{};
}

// Without -l -------------------------------------------------------------------------------------

// In bytes a second: of CPU lanes alone, and of what takes over when a device is used too.
struct Choice {
  double alone, together;
};

// Of a file CPUs drive the device first, and the ones that it cannot use are CPU lanes.
Choice choice_for_file(unsigned cpus, const Rates& rates) {
  constexpr double each_cuda_lane = 5.5e9;   // limited by its CPU
  constexpr double each_cpu_beside = 2.4e9;  // a CPU lane with AES beside eight CUDA lanes
  const double beside =
      cpus > max_file_streams ? (cpus - max_file_streams) * std::min(each_cpu_beside, rates.each_cpu) : 0;
  return {std::min(cpus * rates.each_cpu, rates.max_cpus),
          std::min(std::min(cpus * each_cuda_lane, rates.max_cuda) + beside, rates.max_together)};
}

// Between pipes the programs at their other ends take about as much of the CPUs as the filter does to read
// and write, and CUDA lanes, which have the link to pass too, that much once more.
Choice choice_for_pipes(unsigned cpus, const Rates& rates) {
  constexpr double max_cuda_pipe = 2.3e9;
  constexpr double copy = 1 / pipe_rate;  // seconds of a CPU for a byte
  return {std::min(cpus / (2 * copy + 1 / rates.each_cpu), pipe_rate),
          std::min(cpus / (3 * copy), max_cuda_pipe)};
}

// CPU lanes at once. Of several devices one: a host that has more also has the CPUs to do without (64 of them
// made 100 GB/s, four H200 102), and each device takes 0.25 s to open.
void choose_lanes(LanePlan& plan, const RunShape& shape, const Machine& machine) {
  plan.first = {{Backend::cpu, {}, {}}};
  const bool file = shape.shared_bytes > 0;
  if (!file && machine.cpus >= lanes_for_pipes(shape)) {
    plan.reason = fmt::format(text::auto_pipe, lanes_for_pipes(shape));
    return;
  }
  const std::optional<std::uint64_t> enough = bytes_until_cuda_pays(machine.cpus, shape);
  const double gigabytes = static_cast<double>(enough.value_or(0)) / 1e9;
  if (!machine.cuda) {
    plan.reason = text::auto_no_device;
  } else if (!enough) {
    plan.reason = fmt::format(text::auto_no_gain, machine.cpus);
  } else if (file && shape.shared_bytes < *enough) {
    plan.reason = fmt::format(text::auto_too_small, machine.cpus, gigabytes);
  } else if (file) {
    plan.tuning = find_tuning(shape, machine);
    const unsigned streams = file_streams(machine.cpus, plan.tuning);
    plan.later = {{Backend::cuda, 0, streams}};
    if (machine.cpus > streams) plan.later.push_back({Backend::cpu, {}, machine.cpus - streams});
    plan.reason = fmt::format(text::auto_file, gigabytes);
  } else {
    plan.tuning = find_tuning(shape, machine);
    plan.later = {{Backend::cuda, 0, cuda_pipe_streams}};
    plan.later_from = *enough;
    plan.reason = fmt::format(text::auto_gpu, gigabytes);
  }
}

}  // namespace

std::optional<std::uint64_t> bytes_until_cuda_pays(unsigned cpus, const RunShape& shape) {
  // The CPU lanes work meanwhile. Both are more than they take on a quiet host (0.3 and 0.1), as are the
  // rates of CUDA lanes less (7.5 and 47 GB/s): on a busy one CPU lanes would else have been done before.
  constexpr double open_seconds = 0.7;
  constexpr double end_seconds = 0.15;
  const auto [alone, together] = shape.shared_bytes > 0 ? choice_for_file(cpus, rates_of(shape))
                                                        : choice_for_pipes(cpus, rates_of(shape));
  if (together < 1.3 * alone) return std::nullopt;  // such rates are good for no more
  return static_cast<std::uint64_t>((open_seconds * (1 - alone / together) + end_seconds) /
                                    (1 / alone - 1 / together));
}

Machine this_machine(const RunShape& shape) {
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const bool counts = shape.shared_bytes > 0 || info(shape.cipher).family != Family::aes;
  return {.cpus = counts ? usable_cpus() : bound_cpus(),
          .cache_bytes = cache > 0 ? static_cast<std::size_t>(cache) : 0,
          .cuda = cuda_may_open()};
}

LanePlan plan_lanes(std::vector<LaneSpec> specs, const RunShape& shape, const Machine& machine) {
  LanePlan plan;
  plan.first = std::move(specs);
  const bool cuda_named = std::ranges::any_of(plan.first, is_cuda);
  if (plan.first.empty())
    choose_lanes(plan, shape, machine);
  else if (cuda_named)
    plan.tuning = find_tuning(shape, machine);
  for (LaneSpec& spec : plan.first) complete(spec, machine.cpus, shape, plan.tuning);
  size_ring(plan, shape, machine);
  fit_memory(plan, machine);
  return plan;
}

}  // namespace gpuaes
