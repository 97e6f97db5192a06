// Replaces cuda/profiler_range.cpp in builds without CUDA, which have no NVTX.
#include "system/profiler_range.hpp"

namespace gpuaes {

void push_profiler_range(const char*) noexcept {}

void pop_profiler_range() noexcept {}

}  // namespace gpuaes
