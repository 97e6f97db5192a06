// Named time ranges of a thread, which NVIDIA's profilers show (NVTX).
#pragma once

namespace gpuaes {

// Defined in cuda/profiler_range.cpp or, in builds without CUDA, as empty functions in lane/without_cuda.cpp.
// Without a profiler, a call costs one comparison. `name` is copied.
void push_profiler_range(const char* name) noexcept;
void pop_profiler_range() noexcept;

// The ranges of a thread nest.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name) { push_profiler_range(name); }
  ~ProfilerRange() { pop_profiler_range(); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace gpuaes
