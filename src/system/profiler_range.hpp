// Named ranges of a thread's time, as NVIDIA's profilers show them (NVTX).
#pragma once

namespace gpuaes {

// Defined in cuda/profiler_range.cpp; where CUDA was not built in they do nothing. Without a profiler that
// listens they cost a comparison. `name` is copied.
void push_range(const char* name) noexcept;
void pop_range() noexcept;

// Ranges of one thread nest.
class Range {
 public:
  explicit Range(const char* name) { push_range(name); }
  ~Range() { pop_range(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace gpuaes
