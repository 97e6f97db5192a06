// Profiler ranges by NVTX, a header-only library: its first call looks for an attached profiler.
#include "system/profiler_range.hpp"

#include <nvtx3/nvToolsExt.h>

namespace gpuaes {

void push_profiler_range(const char* name) noexcept {
  nvtxRangePushA(name);
}

void pop_profiler_range() noexcept {
  nvtxRangePop();
}

}  // namespace gpuaes
