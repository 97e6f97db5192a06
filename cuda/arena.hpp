// The memory of all lanes of a device. It is allocated, pinned, cleared and wiped as a whole, because each of
// these calls makes a run begin or end later.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cipher/modes/segments.hpp"
#include "device_key.hpp"
#include "known_answers.hpp"
#include "lane/backends.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {

struct Arena {
  // Clears the device memory. LaneError.
  Arena(std::size_t host_bytes, std::size_t device_bytes) : host(host_bytes), device(device_bytes) {
    check(cudaMemset(device.data(), 0, device.size()));
    check(cudaStreamSynchronize(nullptr));  // cudaMemset is asynchronous, and the lanes' streams do not wait
  }

  PinnedSecret host;
  DeviceBuffer device;
};

// The alignment of cudaMalloc().
inline constexpr std::size_t arena_alignment = 256;

// What a lane keeps in device memory in addition to the data of its jobs. It is copied to and from the same
// structure in host memory.
struct alignas(arena_alignment) LaneData {
  ExpandedKey key;
  std::array<std::uint32_t, cuda_jobs_per_lane> first_bad;
};

// Device memory for the data of a job in flight.
struct JobMemory {
  std::byte *in, *out, *masks;
  SegmentSums* sums;
};

// What belongs to one lane. The arena is freed with the device's last lane.
struct LaneMemory {
  std::shared_ptr<const Arena> arena;
  LaneData* on_host;
  LaneData* on_device;
  std::array<JobMemory, cuda_jobs_per_lane> jobs{};
};

// Where the parts of a job's memory begin, and where it ends.
struct JobLayout {
  explicit JobLayout(const LaneSetup& setup)
      : out(in + aligned(std::max(setup.max_in, known_answer_bytes))),
        masks(out + aligned(std::max(setup.max_out, known_answer_bytes))),
        sums(masks + aligned(tag_bytes * max_segments(setup, {}))),
        end(sums + aligned(sizeof(SegmentSums) * max_segments(setup, age_segments))) {}

  JobMemory at(std::byte* memory) const {
    return {memory + in, memory + out, memory + masks, reinterpret_cast<SegmentSums*>(memory + sums)};
  }

  static std::size_t max_segments(const LaneSetup& setup, const SegmentRules& rules) {
    return count_segments(std::max(setup.max_in, setup.max_out), rules) + 1;
  }

  static std::size_t aligned(std::size_t bytes) {
    return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
  }

  std::size_t in = 0, out, masks, sums, end;
};

// Allocates the memory of `count` lanes of the current device: the LaneData of all lanes and, on the device,
// the data of their jobs after it. LaneError.
inline std::vector<LaneMemory> allocate_lanes(std::size_t count, const LaneSetup& setup) {
  const JobLayout layout(setup);
  const std::size_t data_bytes = count * sizeof(LaneData);
  const auto arena =
      std::make_shared<Arena>(data_bytes, data_bytes + count * cuda_jobs_per_lane * layout.end);
  auto* const on_host = reinterpret_cast<LaneData*>(arena->host.data());
  auto* const on_device = reinterpret_cast<LaneData*>(arena->device.data());
  std::byte* next_job = arena->device.data() + data_bytes;
  std::vector<LaneMemory> lanes;
  for (std::size_t i = 0; i < count; ++i) {
    lanes.push_back({arena, on_host + i, on_device + i});
    for (JobMemory& job : lanes.back().jobs) job = layout.at(std::exchange(next_job, next_job + layout.end));
  }
  return lanes;
}

}  // namespace gpuaes::cuda
