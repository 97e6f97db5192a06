// Asynchronous copies to shared memory; synchronous on the host.
#pragma once

#include <cstring>

#include "cuda_runtime_api.h"

inline void __pipeline_memcpy_async(void* to, const void* from, std::size_t size) {
  std::memcpy(to, from, size);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(int) {}
