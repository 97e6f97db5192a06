// Marks functions that nvcc compiles for host and device and g++ for the host alone, so that CI, which has no
// GPU, checks the logic of every kernel. Before a loop with a constant number of turns, the other one keeps
// nvcc from unrolling it, as it otherwise does, and GPUAES_UNROLL has it unroll one that it finds too long:
// an array has no place in registers while its indices are not constant.
#pragma once

#ifdef __CUDACC__
#define GPUAES_HD __host__ __device__
#define GPUAES_NO_UNROLL _Pragma("unroll 1")
#define GPUAES_UNROLL _Pragma("unroll")
#else
#define GPUAES_HD
#define GPUAES_NO_UNROLL
#define GPUAES_UNROLL
#endif
