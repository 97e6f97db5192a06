// To reach the device's maximum rate of one kind of instruction, each kernel here executes independent chains
// of it with as many threads as fit on the multiprocessors.

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>

#include "bench/cost.hpp"
#include "bench/timed_stream.hpp"
#include "kernels/launch.cuh"

namespace gpuaes::cuda {
namespace {

constexpr int runs = 5;  // the fastest counts, because it is the limit
constexpr unsigned threads = 1024;
constexpr unsigned chains = 8;
constexpr unsigned steps = 4096;
constexpr unsigned entries = 256;  // of a table

// A step of each chain, repeated often enough that the loop itself does not matter.
template <class Step>
__device__ void run_chains(const Step& step) {
#pragma unroll 16
  for (unsigned i = 0; i < steps; ++i) {
#pragma unroll
    for (unsigned c = 0; c < chains; ++c) step(c);
  }
}

// Keeps the compiler from removing the computation.
template <class Word>
__device__ void keep(const Word (&x)[chains], std::uint32_t* sink) {
  Word sum = 0;
  for (const Word word : x) sum += word;
  if (sum == 0x9e3779b9) *sink = static_cast<std::uint32_t>(sum);
}

// No two consecutive functions can be merged. Each takes two registers and a constant because devices may not
// be able to fetch three registers at a time.
__global__ void __launch_bounds__(threads) logic_kernel(std::uint32_t* sink) {
  std::uint32_t x[chains];
  for (unsigned c = 0; c < chains; ++c) x[c] = threadIdx.x * chains + c;
  run_chains([&](unsigned c) {
    asm("lop3.b32 %0, %0, %1, 0x9e3779b9, 0x1e;" : "+r"(x[c]) : "r"(x[(c + 1) % chains]));
  });
  keep(x, sink);
}

__global__ void __launch_bounds__(threads) multiplication_kernel(std::uint32_t* sink) {
  std::uint64_t x[chains];
  const std::uint64_t added = reinterpret_cast<std::uint64_t>(sink);
  for (unsigned c = 0; c < chains; ++c) x[c] = threadIdx.x * chains + c;
  run_chains([&](unsigned c) {
    asm("mad.wide.u32 %0, %1, %2, %3;"
        : "=l"(x[c])
        : "r"(static_cast<std::uint32_t>(x[c])), "r"(0x9e3779b9u), "l"(added));
  });
  keep(x, sink);
}

__global__ void __launch_bounds__(threads) shuffle_kernel(std::uint32_t* sink) {
  std::uint32_t x[chains];
  for (unsigned c = 0; c < chains; ++c) x[c] = threadIdx.x * chains + c;
  run_chains([&](unsigned c) { x[c] = __shfl_sync(0xffffffff, x[c], static_cast<int>(threadIdx.x + 1), 4); });
  keep(x, sink);
}

// The entry of an LS table.
struct alignas(16) Block {
  std::uint32_t words[4];  // all four are used, so all are loaded
  Block() = default;
  __device__ explicit Block(std::uint32_t word) : words{word} {}
  __device__ operator std::uint32_t() const { return words[0] ^ words[1] ^ words[2] ^ words[3]; }
};

// A table with several copies, next to each other, of each of 256 entries. An entry is the offset in bytes of
// the next one to load. `cycle` visits all entries in random order, so the threads of a warp load random
// entries, each from its own copy.
template <class Entry, unsigned copies>
__global__ void __launch_bounds__(threads) load_kernel(const std::uint8_t* cycle, std::uint32_t* sink) {
  __shared__ Entry table[entries * copies];
  const auto offset = [](unsigned entry, unsigned copy) {
    return static_cast<std::uint32_t>(sizeof(Entry)) * (copies * entry + copy);
  };
  for (unsigned i = threadIdx.x; i < entries * copies; i += threads)
    table[i] = static_cast<Entry>(offset(cycle[i / copies], i % copies));
  __syncthreads();
  std::uint32_t at[chains];
  for (unsigned c = 0; c < chains; ++c)
    at[c] = offset(((threadIdx.x * chains + c) * 2654435761u >> 16) % entries, threadIdx.x % copies);
  run_chains([&](unsigned c) {
    at[c] = *reinterpret_cast<const Entry*>(reinterpret_cast<const char*>(table) + at[c]);
  });
  keep(at, sink);
}

// cycle[i] follows i in a cycle of all 256 entries.
std::array<std::uint8_t, entries> make_cycle() {
  std::array<std::uint8_t, entries> order{}, cycle{};
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  std::ranges::shuffle(order, std::mt19937(1));
  for (unsigned i = 0; i < entries; ++i) cycle[order[i]] = order[(i + 1) % entries];
  return cycle;
}

// Operations per second; `enqueue` puts `amount` of them into the stream.
template <class Enqueue>
double rate(const TimedStream& timed, double amount, const Enqueue& enqueue) {
  timed.time(enqueue);  // a warm-up
  double seconds = timed.time(enqueue);
  for (int run = 1; run < runs; ++run) seconds = std::min(seconds, timed.time(enqueue));
  return amount / seconds;
}

// The same for a kernel with `steps` times `chains` operations per thread, in twice as many CUDA blocks as
// fit on the device.
template <class... Parameters, class... Arguments>
double rate_of(const TimedStream& timed, void (*kernel)(Parameters...), const Arguments&... arguments) {
  int resident;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, 0));
  const int blocks = 2 * resident * attribute(cudaDevAttrMultiProcessorCount);
  return rate(timed, double(blocks) * threads * steps * chains, [&] {
    kernel<<<static_cast<unsigned>(blocks), threads, 0, timed.stream().get()>>>(arguments...);
    check(cudaGetLastError());
  });
}

}  // namespace

Operations measure_limits(const std::byte* from, std::byte* to, std::size_t size) {
  const TimedStream timed;
  const DeviceBuffer sink_memory(sizeof(std::uint32_t)), cycle_memory(entries);
  auto* const sink = reinterpret_cast<std::uint32_t*>(sink_memory.data());
  const auto* const cycle = reinterpret_cast<const std::uint8_t*>(cycle_memory.data());
  check(cudaMemcpy(cycle_memory.data(), make_cycle().data(), entries, cudaMemcpyHostToDevice));
  check(cudaDeviceSynchronize());
  const auto copy = [&] {
    check(cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToDevice, timed.stream().get()));
  };
  return {.memory_bytes = rate(timed, 2.0 * static_cast<double>(size), copy),
          .logic = rate_of(timed, logic_kernel, sink),
          .multiplications = rate_of(timed, multiplication_kernel, sink),
          .shuffles = rate_of(timed, shuffle_kernel, sink),
          .loads_of_own_bank = rate_of(timed, load_kernel<std::uint32_t, warp_lanes>, cycle, sink),
          .loads_of_256_words = rate_of(timed, load_kernel<std::uint32_t, 1>, cycle, sink),
          .loads_of_256_bytes = rate_of(timed, load_kernel<std::uint8_t, 1>, cycle, sink),
          .loads_of_256_blocks = rate_of(timed, load_kernel<Block, 1>, cycle, sink)};
}

}  // namespace gpuaes::cuda
