// The figures on which plans of lanes are based. Measured with files in the page cache on a host with NVIDIA
// H200 devices (PCIe 5, Intel Xeon), using 1 to 64 cores and 1 to 4 devices. What differs most between
// machines is not here: -l auto measures how fast CPU lanes are, and looks up the speed of the link.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "cipher/ciphers.hpp"

namespace gpuaes {

// Bytes of plaintext in a chunk: the default, and the minimum if chunks shrink to keep the ring in the cache.
struct ChunkFigures {
  std::size_t bytes, min_bytes;
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
  double usual_disk;
  double read;           // one CPU reading from the page cache
  double pipe_copy;      // copying from pipe to pipe on one CPU
  double cuda_pipe_max;  // CUDA lanes between pipes
  double link;           // of a device if the system does not say
  double link_use;       // the fraction of it that copies in both directions reach

  // What an additional device adds to the rate, as a fraction of the rate of one, and to the time for
  // starting and ending CUDA.
  double extra_device_gain, extra_device_seconds;

  std::uint64_t min_cuda_file;  // bytes of the smallest file for which auto considers CUDA
  double open_seconds;          // to open CUDA lanes
  double end_seconds;           // that CUDA lanes add at the end of the program
  double min_gain;  // required speedup from CUDA: the expected rates are not accurate enough for less
  // How long CUDA lanes must be slower, twice, before CPU lanes take over again.
  std::chrono::milliseconds trial;

  // CPU seconds for opening and closing CUDA lanes, and for each byte between pipes in addition to what CPU
  // lanes need for the transfers.
  double cuda_start_cpu, cuda_pipe_cpu;
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

    .usual_disk = 3e9,
    .read = 5.5e9,
    .pipe_copy = 3.6e9,
    .cuda_pipe_max = 2.3e9,
    .link = 64e9,
    .link_use = 0.7,

    // Two devices encrypt 64 to 76 GB/s instead of 47. For more, this is an estimate.
    .extra_device_gain = 0.5,
    .extra_device_seconds = 0.34,

    .min_cuda_file = std::uint64_t{1} << 30,
    .open_seconds = 0.45,
    .end_seconds = 0.05,
    .min_gain = 1.3,
    .trial = std::chrono::milliseconds(100),

    .cuda_start_cpu = 0.3,
    .cuda_pipe_cpu = 0.6e-9,
};

// Bytes per second of one CPU lane, with its input and output: for the number of lanes that keep up with a
// pipe or a disk. Those of Kuznyechik were measured on an AMD EPYC with AVX2 (Zen 3).
constexpr double usual_lane_rate(Cipher cipher, bool authenticated) {
  switch (info(cipher).family) {
    case Family::aes:
      return authenticated ? 4.3e9 : 3.4e9;
    case Family::kuznyechik:
      return authenticated ? 0.24e9 : 0.51e9;
    case Family::chacha20:
      return 1.9e9;
  }
  refuse_cipher(cipher);
}

}  // namespace gpuaes
