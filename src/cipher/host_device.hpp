// Marks functions that nvcc compiles for host and device and g++ for the host alone, so that CI, which has no
// GPU, checks the logic of every kernel.
#pragma once

#ifdef __CUDACC__
#define GPUAES_HD __host__ __device__
#else
#define GPUAES_HD
#endif
