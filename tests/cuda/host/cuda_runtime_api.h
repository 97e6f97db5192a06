// The part of CUDA that kernels need, on the host, with a thread for each thread of a CUDA block. This lets
// CI run whole kernels, and ThreadSanitizer check how warps exchange data. Only the programs made from the
// tests/cuda/host_*_test.cpp files use it, in place of CUDA's header of the same name.
#pragma once

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#define GPUAES_HOST_WARPS  // selects the warp code in src/cipher
#define __global__
#define __device__
#define __host__
#define __shared__
#define __launch_bounds__(...)

using cudaStream_t = void*;
struct alignas(16) uint4 {
  std::uint32_t x, y, z, w;
};
struct HostDim {
  unsigned x;
};
inline thread_local HostDim threadIdx, blockIdx, blockDim, gridDim;

// The data that the threads of a CUDA block share.
struct HostWarp {
  std::barrier<> barrier{32};
  std::array<std::uint32_t, 32> offered{};
};
struct HostBlock {
  explicit HostBlock(unsigned threads) : barrier(threads), warps(threads / 32) {
    for (auto& warp : warps) warp = std::make_unique<HostWarp>();
  }
  std::barrier<> barrier;
  std::vector<std::unique_ptr<HostWarp>> warps;
};
inline std::unique_ptr<HostBlock> host_block;

inline HostWarp& host_warp() {
  return *host_block->warps[threadIdx.x / 32];
}
inline void __syncthreads() {
  host_block->barrier.arrive_and_wait();
}
inline void __syncwarp() {
  host_warp().barrier.arrive_and_wait();
}

// The value of warp lane `from`. All 32 threads must call this.
inline std::uint32_t host_exchange(std::uint32_t value, unsigned from) {
  HostWarp& warp = host_warp();
  warp.offered[threadIdx.x % 32] = value;
  warp.barrier.arrive_and_wait();
  const std::uint32_t result = warp.offered[from];
  warp.barrier.arrive_and_wait();
  return result;
}
inline std::uint32_t __shfl_sync(unsigned, std::uint32_t value, int from, int width) {
  const unsigned warp_lane = threadIdx.x % 32, size = static_cast<unsigned>(width);
  return host_exchange(value, warp_lane / size * size + static_cast<unsigned>(from) % size);
}
inline std::uint32_t __shfl_xor_sync(unsigned, std::uint32_t value, unsigned distance) {
  return host_exchange(value, threadIdx.x % 32 ^ distance);
}
inline bool __any_sync(unsigned, bool value) {
  std::uint32_t any = value;
  for (unsigned distance = 16; distance > 0; distance /= 2) any |= __shfl_xor_sync(0, any, distance);
  return any != 0;
}
inline void __threadfence() {}  // CUDA blocks run one after another
inline std::uint32_t atomicAdd(std::uint32_t* place, std::uint32_t value) {
  return __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
}
inline void atomicMin(std::uint32_t* place, std::uint32_t value) {
  std::uint32_t now = __atomic_load_n(place, __ATOMIC_RELAXED);
  while (value < now &&
         !__atomic_compare_exchange_n(place, &now, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

// Runs `kernel`, with its parameters bound, on a grid: one CUDA block after another.
template <class Kernel>
void run_on_host(unsigned blocks, unsigned threads, const Kernel& kernel) {
  for (unsigned block = 0; block < blocks; ++block) {
    host_block = std::make_unique<HostBlock>(threads);
    std::vector<std::jthread> running;
    for (unsigned thread = 0; thread < threads; ++thread)
      running.emplace_back([=, &kernel] {
        threadIdx = {thread};
        blockIdx = {block};
        blockDim = {threads};
        gridDim = {blocks};
        kernel();
      });
  }
}
