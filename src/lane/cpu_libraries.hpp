// Which library computes ciphers on CPU lanes: libcrypto, or libgcrypt where it is faster.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "cipher/job.hpp"

namespace gpuaes {

enum class CpuLibrary { libcrypto, libgcrypt };

// Bytes of plaintext per second of a CPU with each library; 0 if it does not support the cipher.
struct CpuRates {
  double libcrypto = 0, libgcrypt = 0;
};

// Measures how fast the CPU of the calling thread seals segments, or encrypts in counter mode. The data is in
// its cache. Takes 1 to 3 ms for each library. LaneError.
CpuRates measure_cpu(Cipher cipher, bool authenticated);

// The library for the CPU lanes of a run, which share this object. They begin with libcrypto, since for a
// short input it takes too long to load and measure another one. Thread-safe.
class CpuLibraries {
 public:
  // The library for a job that is about to start. The first one after `trial_bytes` of input waits until both
  // libraries have been measured. LaneError, once, if they disagree about its first segment.
  CpuLibrary choose(const Job& job);

  // "libgcrypt 1.10.1 (2.3 GB/s; libcrypto 1.6 GB/s)". Empty if only libcrypto was considered.
  std::string description() const;

 private:
  static constexpr std::uint64_t trial_bytes = 64 << 20;

  std::atomic<std::uint64_t> bytes_ = 0;  // of input so far
  std::atomic<bool> measured_ = false;
  std::atomic<CpuLibrary> chosen_ = CpuLibrary::libcrypto;
  mutable std::mutex mutex_;
  std::string description_;  // guarded by mutex_
};

}  // namespace gpuaes
