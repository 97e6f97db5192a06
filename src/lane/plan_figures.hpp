// The figures on which plans of lanes are based. Measured with AES-256 and files in the page cache on a
// host with NVIDIA H200 devices (PCIe 5, Intel Xeon), using 1 to 64 cores and 1 to 4 devices; Kuznyechik's
// CPU rates on an AMD EPYC with AVX2 (Zen 3).
#pragma once

#include <cstddef>

namespace gpuaes {

// Bytes of plaintext in a chunk: the default, and the minimum if chunks shrink to keep the ring in the cache.
struct ChunkFigures {
  std::size_t bytes, min_bytes;
};

// Bytes of input per second, from a file in the page cache.
struct LaneRates {
  double cpu_lane;      // one CPU lane
  double max_cpu;       // CPU lanes together: limited by the host's memory
  double max_cuda;      // CUDA lanes of one device: limited by the link
  double max_together;  // CPU and CUDA lanes together
};

struct PlanFigures {
  ChunkFigures cpu_file, cpu_pipe, cuda_file, cuda_pipe;
  std::size_t short_file_chunk_bytes;  // the minimum on CPU lanes if chunks shrink for a short file
  std::size_t safe_ring_bytes;         // rings up to this size are fast with any cache
  double cpu_ring_caches;              // maximum ring size as a multiple of the last-level cache
  double cuda_ring_caches;
  std::size_t extra_cuda_chunks;  // in addition to the jobs in flight, for reading and writing

  unsigned min_disk_lanes;  // CPU lanes for a file that is not in the page cache
  double max_disk;          // bytes per second of the fastest disks; lanes for more would only wait
  unsigned min_file_streams, max_file_streams;  // CUDA streams per device for a file: one per CPU
  unsigned max_streams_of_several;              // if several devices share the CPUs
  unsigned pipe_streams;                        // CUDA streams per device between pipes

  // Bytes per second.
  LaneRates aes_ctr, aes_gcm, kuznyechik_ctr, kuznyechik_mgm, chacha20_poly1305;
  double pipe_copy;           // copying from pipe to pipe on one CPU
  double cuda_pipe_max;       // CUDA lanes between pipes
  double cuda_lane;           // one CUDA lane on a file: limited by its CPU
  double cpu_lane_with_cuda;  // one CPU lane with AES while max_file_streams CUDA lanes run

  // CPU seconds for reading and transferring a byte with CUDA lanes, and for opening and closing them.
  double cuda_file_cpu, cuda_pipe_cpu;  // between pipes, in addition to what CPU lanes need for the transfers
  double cuda_start_cpu;

  double extra_device_gain;  // what an additional device adds to the rate, as a fraction of the rate of one
  double extra_device_seconds;  // and to the time for starting and ending CUDA

  double open_seconds;  // to open CUDA lanes while CPU lanes work
  double end_seconds;   // that CUDA lanes add at the end of the program
  double min_gain;      // required speedup from CUDA: the rates are not accurate enough for less
};

inline constexpr PlanFigures figures{
    // A chunk of a file fits in a core's L2 cache. Between pipes, one lane reads or writes while the others
    // encrypt, each with one chunk in its cache; larger chunks were slower. Chunks for CUDA lanes must be
    // large enough to be worth a launch.
    .cpu_file = {.bytes = 1 << 20, .min_bytes = 64 << 10},
    .cpu_pipe = {.bytes = 256 << 10, .min_bytes = 64 << 10},
    .cuda_file = {.bytes = 4 << 20, .min_bytes = 2 << 20},
    .cuda_pipe = {.bytes = 1 << 20, .min_bytes = 1 << 20},
    .short_file_chunk_bytes = 256 << 10,
    .safe_ring_bytes = 96 << 20,
    .cpu_ring_caches = 1,
    .cuda_ring_caches = 0.4,
    .extra_cuda_chunks = 4,

    // Four lanes even with fewer CPUs: while one waits for the disk, another one encrypts. With more lanes
    // than the fastest disks need, reading was slower and the ciphers used more CPU time.
    .min_disk_lanes = 4,
    .max_disk = 30e9,

    // Four streams even with fewer CPUs: while one thread waits, another one reads. With several devices,
    // each thread reads more slowly, so it takes more of them to keep the links busy.
    .min_file_streams = 4,
    .max_file_streams = 8,
    .max_streams_of_several = 16,
    .pipe_streams = 2,

    // The rates of CUDA lanes are lower, and the times below longer, than on an idle host: otherwise CUDA
    // would take over on a busy host where CPU lanes finish first.
    .aes_ctr = {.cpu_lane = 3.4e9, .max_cpu = 92e9, .max_cuda = 44e9, .max_together = 66e9},
    .aes_gcm = {.cpu_lane = 4.3e9, .max_cpu = 85e9, .max_cuda = 44e9, .max_together = 60e9},
    .kuznyechik_ctr = {.cpu_lane = 0.51e9, .max_cpu = 92e9, .max_cuda = 44e9, .max_together = 66e9},
    .kuznyechik_mgm = {.cpu_lane = 0.24e9, .max_cpu = 85e9, .max_cuda = 38e9, .max_together = 60e9},
    .chacha20_poly1305 = {.cpu_lane = 1.9e9, .max_cpu = 85e9, .max_cuda = 44e9, .max_together = 50e9},
    .pipe_copy = 3.6e9,
    .cuda_pipe_max = 2.3e9,
    .cuda_lane = 5.5e9,
    .cpu_lane_with_cuda = 2.4e9,

    .cuda_file_cpu = 0.14e-9,
    .cuda_pipe_cpu = 0.6e-9,
    .cuda_start_cpu = 0.3,

    // Two devices encrypt 64 to 76 GB/s instead of 47. For more, this is an estimate.
    .extra_device_gain = 0.5,
    .extra_device_seconds = 0.34,

    .open_seconds = 0.7,
    .end_seconds = 0.15,
    .min_gain = 1.3,
};

}  // namespace gpuaes
