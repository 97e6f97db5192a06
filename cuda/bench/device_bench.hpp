// gpuaes-bench device: what the links to the devices move, which holds every lane that uses them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bench/report.hpp"

namespace gpuaes::cuda {

// Of each device, in each direction: as many as the ring of a device's lanes has chunks (lane/backends.cpp).
// With other numbers the buffers would stay in the last-level cache where those of the filter do not, or the
// other way round.
inline constexpr std::size_t host_buffers = 28;
inline constexpr std::size_t max_copy_bytes = 64 << 20;

std::vector<Column> device_columns();

// For copies of each of these sizes reports what each device moves in each direction alone and in both at
// once, and what two, four, ... and all of them move together; and what each device is. `memory` has room for
// `host_buffers` of the largest size, for each device, twice: those that are copied from, then those that are
// copied to. It is pinned here, as lanes pin the ring. LaneError.
void run_device_bench(std::span<const std::size_t> copy_sizes, std::span<std::byte> memory, Report& report);

}  // namespace gpuaes::cuda
