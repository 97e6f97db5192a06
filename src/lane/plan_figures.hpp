// The figures that lane/plan.cpp plans by. They were measured with AES-256 on a host of NVIDIA H200 devices
// (PCIe 5, Intel Xeon), of which 1 to 64 cores and 1 to 4 devices were used, with files in the page cache.
// Kuznyechik's rates on CPUs are of an AMD EPYC with AVX2 (Zen 3).
#pragma once

#include <cstddef>

namespace gpuaes {

// Bytes of plaintext in a chunk: usually, and at least where chunks shrink so that the ring stays in the
// cache.
struct ChunkFigures {
  std::size_t bytes, min_bytes;
};

// Bytes of input per second, of a file in the page cache.
struct LaneRates {
  double cpu_lane;      // one CPU lane
  double max_cpu;       // CPU lanes together: the host's memory is the limit
  double max_cuda;      // CUDA lanes of one device: the link is the limit
  double max_together;  // CPU and CUDA lanes together
};

struct PlanFigures {
  ChunkFigures cpu_file, cpu_pipe, cuda_file, cuda_pipe;
  std::size_t safe_ring_bytes;  // rings up to this size are fast with any cache; larger ones must fit into
  double cpu_ring_caches;       // this many times the last-level cache
  double cuda_ring_caches;
  std::size_t extra_cuda_chunks;  // beyond the jobs in flight, to be read and written meanwhile

  unsigned min_file_streams, max_file_streams;  // CUDA streams of a device for a file, one for each CPU
  unsigned pipe_streams;                        // the same between pipes

  // Bytes per second.
  LaneRates aes_ctr, aes_gcm, kuznyechik_ctr, kuznyechik_mgm;
  double pipe_copy;             // a program with one CPU that only copies from pipe to pipe
  double cuda_pipe_max;         // CUDA lanes between pipes
  double cuda_lane;             // one CUDA lane of a file: its CPU is the limit
  double cpu_lane_beside_cuda;  // one CPU lane with AES while max_file_streams CUDA lanes run

  double open_seconds;  // until CUDA lanes are open, while CPU lanes work
  double end_seconds;   // what CUDA lanes cost the end of the program
  double min_gain;      // CUDA has to be this many times as fast: the rates are no better than that
};

inline constexpr PlanFigures figures{
    // A chunk of a file stays in a core's L2 cache. Between pipes one lane reads or writes while the others
    // encipher, each in the one chunk that it keeps in its cache; larger chunks were slower. CUDA lanes need
    // chunks that are worth a launch.
    .cpu_file = {.bytes = 1 << 20, .min_bytes = 64 << 10},
    .cpu_pipe = {.bytes = 256 << 10, .min_bytes = 64 << 10},
    .cuda_file = {.bytes = 4 << 20, .min_bytes = 2 << 20},
    .cuda_pipe = {.bytes = 1 << 20, .min_bytes = 1 << 20},
    .safe_ring_bytes = 96 << 20,
    .cpu_ring_caches = 1,
    .cuda_ring_caches = 0.5,
    .extra_cuda_chunks = 4,

    // Few CPUs still have four streams: while one thread waits another one reads.
    .min_file_streams = 4,
    .max_file_streams = 8,
    .pipe_streams = 2,

    // Rates of CUDA lanes are lower, and the times below longer, than on a quiet host: on a busy host the CPU
    // lanes would otherwise finish first.
    .aes_ctr = {.cpu_lane = 3.4e9, .max_cpu = 92e9, .max_cuda = 44e9, .max_together = 66e9},
    .aes_gcm = {.cpu_lane = 4.3e9, .max_cpu = 85e9, .max_cuda = 44e9, .max_together = 60e9},
    .kuznyechik_ctr = {.cpu_lane = 0.51e9, .max_cpu = 92e9, .max_cuda = 44e9, .max_together = 66e9},
    .kuznyechik_mgm = {.cpu_lane = 0.24e9, .max_cpu = 85e9, .max_cuda = 38e9, .max_together = 60e9},
    .pipe_copy = 3.6e9,
    .cuda_pipe_max = 2.3e9,
    .cuda_lane = 5.5e9,
    .cpu_lane_beside_cuda = 2.4e9,

    .open_seconds = 0.7,
    .end_seconds = 0.15,
    .min_gain = 1.3,
};

}  // namespace gpuaes
