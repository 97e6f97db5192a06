// NVTX is made of headers alone: the first call looks for a profiler, once and for all.
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
