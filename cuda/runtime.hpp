// Owners of the CUDA runtime's resources, and the check that every call goes through. An owner belongs to the
// device that was current when it was created, which must be current again when it is destroyed.
//
// Destructors do not throw: a call there fails only if the context is dead, and then there is nothing to
// release.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>

#include "base/error.hpp"

namespace gpuaes::cuda {

// LaneError, such as "cuda: out of memory (lane.cpp:42)".
inline void check(cudaError_t error, std::source_location where = std::source_location::current()) {
  if (error == cudaSuccess) return;
  std::string_view file = where.file_name();
  file.remove_prefix(file.rfind('/') + 1);
  throw LaneError("cuda: " + std::string(cudaGetErrorString(error)) + " (" + std::string(file) + ":" +
                  std::to_string(where.line()) + ")");
}

inline int attribute(cudaDeviceAttr which, int device) {
  int value;
  check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

// For the current device.
inline int attribute(cudaDeviceAttr which) {
  int device;
  check(cudaGetDevice(&device));
  return attribute(which, device);
}

// In the form that sysfs uses.
inline std::string pci_address(int device) {
  std::array<char, 32> address{};
  check(cudaDeviceGetPCIBusId(address.data(), address.size(), device));
  std::ranges::transform(address, address.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return address.data();
}

// Allows CUDA blocks of the kernel all of the device's dynamic shared memory; lane kernels have no static
// shared memory. The limit belongs to the kernel, which other threads also launch, so every call sets the
// same one.
inline void allow_shared_memory(const void* kernel) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
}

// Not synchronized with the null stream.
class Stream {
 public:
  Stream() {
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_.reset(stream);
  }
  cudaStream_t get() const noexcept { return stream_.get(); }
  void wait() const { check(cudaStreamSynchronize(get())); }

 private:
  struct Destroy {
    void operator()(cudaStream_t stream) const noexcept { cudaStreamDestroy(stream); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> stream_;
};

// Waits on destruction until the device is idle.
struct IdleDevice {
  int device;
  ~IdleDevice() {
    cudaSetDevice(device);
    cudaDeviceSynchronize();
  }
};

// wait() sleeps between polls, each time for as long as it has waited so far, within limits. With
// cudaEventBlockingSync, the interrupt for one event wakes every thread that waits for any event; polling was
// faster and uses less CPU time. An event records its time if `flags` is cudaEventDefault.
class Event {
 public:
  explicit Event(unsigned flags = cudaEventDisableTiming) {
    cudaEvent_t event;
    check(cudaEventCreateWithFlags(&event, flags));
    event_.reset(event);
  }
  cudaEvent_t get() const noexcept { return event_.get(); }
  void record(const Stream& stream) const { check(cudaEventRecord(get(), stream.get())); }
  void wait() const {
    const Clock::time_point start = Clock::now();
    cudaError_t error;
    while ((error = cudaEventQuery(get())) == cudaErrorNotReady)
      std::this_thread::sleep_for(std::clamp(Clock::now() - start, min_sleep, max_sleep));
    check(error);
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Linux's default timer slack adds 50 us. Waking up late does not leave the device idle: it has another
  // job.
  static constexpr Clock::duration min_sleep = std::chrono::microseconds(10);
  static constexpr Clock::duration max_sleep = std::chrono::microseconds(200);

  struct Destroy {
    void operator()(cudaEvent_t event) const noexcept { cudaEventDestroy(event); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy> event_;
};

// Device memory, wiped before it is freed because it holds round keys and plaintext. No stream may be using
// it at that time.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size) {
    void* data;
    check(cudaMalloc(&data, size));
    data_ = {static_cast<std::byte*>(data), WipeAndFree{size}};
  }
  std::byte* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return data_.get_deleter().size; }

 private:
  struct WipeAndFree {
    std::size_t size;
    void operator()(std::byte* data) const noexcept {
      cudaMemset(data, 0, size);
      cudaStreamSynchronize(nullptr);  // cudaMemset is asynchronous
      cudaFree(data);
    }
  };
  std::unique_ptr<std::byte, WipeAndFree> data_;
};

// Pins host memory, which lets every device copy to and from it at full speed. The memory must outlive this.
class PinnedRegion {
 public:
  PinnedRegion() = default;
  explicit PinnedRegion(std::span<std::byte> region) {
    check(cudaHostRegister(region.data(), region.size(), cudaHostRegisterPortable));
    data_.reset(region.data());
  }

 private:
  struct Unregister {
    void operator()(std::byte* data) const noexcept { cudaHostUnregister(data); }
  };
  std::unique_ptr<std::byte, Unregister> data_;
};

// Pinned for all devices, or not at all if the system refuses.
inline PinnedRegion try_pin(std::span<std::byte> memory) {
  try {
    return PinnedRegion(memory);
  } catch (const LaneError&) {
    cudaGetLastError();  // otherwise the runtime reports the error after the next launch
    return {};
  }
}

}  // namespace gpuaes::cuda
