// Named ranges of a thread's time, as NVIDIA's profilers show them (NVTX).
#pragma once

namespace gpuaes {

// Defined in cuda/lane.cpp; in a program built without CUDA they do nothing. If no profiler listens
// they cost a comparison. `name` is copied.
void push_profiler_range(const char* name) noexcept;
void pop_profiler_range() noexcept;

// Ranges of one thread nest.
class ProfilerRange {
 public:
  explicit ProfilerRange(const char* name) { push_profiler_range(name); }
  ~ProfilerRange() { pop_profiler_range(); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

}  // namespace gpuaes
