// CUDA lanes: a lane is a thread that drives one CUDA stream with two jobs in flight. While the device works
// on one job, the thread reads the next chunk and enqueues it, so the device never waits for the thread.
// Copies in, kernels and copies out of a device's lanes overlap.
//
// The ring is pinned once for all devices and lanes. If the system refuses to pin it, the driver stages the
// copies, which is slower.

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "cipher/modes/segments.hpp"
#include "device_key.hpp"
#include "job_times.hpp"
#include "kernels/kernels.hpp"
#include "known_answers.hpp"
#include "lane/backends.hpp"
#include "runtime.hpp"
#include "system/numa.hpp"
#include "system/profiler_range.hpp"

namespace gpuaes {
namespace {

using namespace cuda;

PublicData public_data(std::span<const std::byte> bytes) {
  PublicData data;
  if (bytes.size() > sizeof data.words) throw LaneError("cuda: the associated data of the job is too long");
  data.size = static_cast<std::uint32_t>(bytes.size());
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(data.words)).begin());
  return data;
}

class CudaLane : public Lane {
 public:
  // `number` is the user's device number, `device` the runtime's.
  CudaLane(unsigned number, int device, CpuList cpus, std::shared_ptr<const PinnedRegion> pinned,
           const LaneSetup& setup)
      : number_(number),
        device_((check(cudaSetDevice(device)), device)),
        cpus_(std::move(cpus)),
        kernel_(setup.kernel),
        pinned_(std::move(pinned)),
        buffers_{JobBuffers(setup, stream_), JobBuffers(setup, stream_)} {
    const ProfilerRange profiler_range("self-test");
    test_known_answers(*this, setup.cipher);
    key_ = nullptr;  // the next key may be at the same address
  }

  std::string name() const override { return fmt::format("cuda:{}", number_); }
  std::size_t depth() const override { return buffers_.size(); }
  bool copies() const override { return true; }
  std::span<const unsigned> cpus() const override { return cpus_; }

  void start(const Job& job) override {
    check(cudaSetDevice(device_));  // lanes are opened and driven by different threads
    if (key_ != job.key || message_ != job.message) keys_.set(*job.key, stream_);
    key_ = job.key;
    message_ = job.message;
    JobBuffers& buffers = buffers_[started_++ % buffers_.size()];
    Steps steps(buffers.times, stream_);
    steps.next("H2D");
    check(cudaMemcpyAsync(buffers.in.data(), job.in.data(), job.in.size(), cudaMemcpyHostToDevice,
                          stream_.get()));
    steps.next("kernel");
    const std::byte* const out = launch(job, buffers);
    steps.next("D2H");
    check(cudaMemcpyAsync(job.out.data(), out, job.out.size(), cudaMemcpyDeviceToHost, stream_.get()));
    buffers.opens = job.operation == Operation::open;
    if (buffers.opens)
      check(cudaMemcpyAsync(&*buffers.first_bad, buffers.verdict.data(), sizeof(std::uint32_t),
                            cudaMemcpyDeviceToHost, stream_.get()));
    steps.end();
    buffers.done.record(stream_);
  }

  std::optional<std::size_t> finish() override {
    JobBuffers& buffers = buffers_[finished_++ % buffers_.size()];
    buffers.done.wait();
    buffers.times.finish();
    if (!buffers.opens || *buffers.first_bad == none_bad) return std::nullopt;
    buffers.forget_bad(stream_);
    return *buffers.first_bad;
  }

  std::span<const Phase> phases() const override {
    return buffers_[(finished_ + buffers_.size() - 1) % buffers_.size()].times.phases();
  }

 private:
  // The memory of a job in flight.
  struct JobBuffers {
    // Zeroed: kernels work on whole blocks and also read the bytes of the last block that no copy has
    // written.
    JobBuffers(const LaneSetup& setup, const Stream& stream)
        : in(whole_blocks(std::max(setup.max_in, known_answer_bytes))),
          out(whole_blocks(std::max(setup.max_out, known_answer_bytes))),
          masks(tag_bytes * (count_segments(std::max(setup.max_in, setup.max_out)) + 1)),
          verdict(sizeof(std::uint32_t)),
          times(setup.timed) {
      check(cudaMemsetAsync(in.data(), 0, in.size(), stream.get()));
      forget_bad(stream);
    }
    void forget_bad(const Stream& stream) {
      static_assert(none_bad == 0xffffffff);
      check(cudaMemsetAsync(verdict.data(), 0xff, verdict.size(), stream.get()));
    }
    std::uint32_t* first_bad_on_device() const { return reinterpret_cast<std::uint32_t*>(verdict.data()); }
    static std::size_t whole_blocks(std::size_t size) { return (size + 15) / 16 * 16; }

    DeviceBuffer in, out, masks, verdict, mgm_scratch;
    HostCopy<std::uint32_t> first_bad;
    bool opens = false;
    Event done;
    JobTimes times;
  };

  // Returns where the output will be on the device.
  const std::byte* launch(const Job& job, JobBuffers& buffers) {
    if (job.operation == Operation::ctr) {
      launch_ctr(job, buffers.in.data());
      return buffers.in.data();
    }
    launch_aead(job, buffers);
    return buffers.out.data();
  }

  void launch_ctr(const Job& job, std::byte* in) {
    const Counter counter = load_counter(job.counter);
    switch (info(job.key->cipher).family) {
      case Family::aes:
        return launch_aes_ctr(keys_.aes(kernel_), counter, in, in, job.in.size(), stream_.get());
      case Family::kuznyechik:
        return launch_kuznyechik_ctr(keys_.kuznyechik(kernel_), counter, in, in, job.in.size(),
                                     stream_.get());
    }
    refuse_cipher(job.key->cipher);
  }

  void launch_aead(const Job& job, JobBuffers& buffers) {
    check_nonce(job);
    switch (info(job.key->cipher).family) {
      case Family::aes:
        return launch_gcm(job, buffers);
      case Family::kuznyechik:
        return launch_mgm(job, buffers);
    }
    refuse_cipher(job.key->cipher);
  }

  void launch_gcm(const Job& job, const JobBuffers& buffers) {
    const GcmJob gcm{.key = keys_.aes(kernel_),
                     .powers = keys_.powers(),
                     .base_nonce = job.base_nonce,
                     .first_segment = job.first_segment,
                     .aad = public_data(job.aad),
                     .sealed_bytes = std::max(job.in.size(), job.out.size()),
                     .masks = buffers.masks.data()};
    if (job.operation == Operation::seal)
      launch_gcm_seal(gcm, buffers.in.data(), buffers.out.data(), stream_.get());
    else
      launch_gcm_open(gcm, buffers.in.data(), buffers.out.data(), buffers.first_bad_on_device(),
                      stream_.get());
  }

  void launch_mgm(const Job& job, JobBuffers& buffers) {
    // Allocated on demand and no larger than necessary, because it is larger than the job's data.
    const std::size_t sealed_bytes = std::max(job.in.size(), job.out.size());
    const std::size_t scratch_bytes = count_segments(sealed_bytes) * mgm_scratch_bytes(job.aad.size());
    if (buffers.mgm_scratch.size() < scratch_bytes) buffers.mgm_scratch = DeviceBuffer(scratch_bytes);
    const MgmJob mgm{.key = keys_.kuznyechik(kernel_),
                     .base_nonce = job.base_nonce,
                     .first_segment = job.first_segment,
                     .aad = public_data(job.aad),
                     .sealed_bytes = sealed_bytes,
                     .scratch = buffers.mgm_scratch.data()};
    if (job.operation == Operation::seal)
      launch_mgm_seal(mgm, buffers.in.data(), buffers.out.data(), stream_.get());
    else
      launch_mgm_open(mgm, buffers.in.data(), buffers.out.data(), buffers.first_bad_on_device(),
                      stream_.get());
  }

  // Destroyed first, even if the constructor throws: the device must be idle before its memory is freed. A
  // dead context only returns an error and no longer writes.
  struct Idle {
    int device;
    cudaStream_t stream;
    ~Idle() {
      cudaSetDevice(device);
      cudaStreamSynchronize(stream);
    }
  };

  unsigned number_;
  int device_;
  CpuList cpus_;
  CudaKernel kernel_;
  std::shared_ptr<const PinnedRegion> pinned_;  // the last lane unpins the ring
  Stream stream_;
  DeviceKey keys_;
  const CipherKey* key_ = nullptr;
  std::uint64_t message_ = 0;  // with that key
  std::array<JobBuffers, cuda_jobs_per_lane> buffers_;
  std::size_t started_ = 0;
  std::size_t finished_ = 0;
  Idle idle_{device_, stream_.get()};
};

// A device that a spec names.
struct Device {
  unsigned number;  // the user's
  int index;        // the runtime's
  unsigned streams;
  std::optional<NumaNode> node;
};

std::vector<Device> find_devices(std::span<const LaneSpec> specs) {
  const auto count = static_cast<unsigned>(require_cuda_devices("use -l cpu, which works on every machine"));
  std::vector<Device> devices;
  for (const LaneSpec& spec : specs) {
    const unsigned first = spec.shown_as.value_or(spec.device.value_or(0));
    if (spec.device && first >= count)
      throw LaneError(fmt::format("there is no CUDA device {}; this machine has {}", *spec.device, count),
                      "run gpuaes-stream --list-lanes to list the devices");
    for (unsigned i = 0; i < (spec.device ? 1 : count); ++i) {
      const int index = static_cast<int>(first + i);
      devices.push_back(
          {spec.device.value_or(i), index, spec.count.value_or(1), node_of_pci_device(pci_address(index))});
    }
  }
  return devices;
}

// Any device may do any job, so the memory is spread over the nodes of all devices.
void place_memory(std::span<std::byte> memory, std::span<const Device> devices) {
  std::vector<unsigned> nodes;
  for (const Device& device : devices)
    if (device.node) nodes.push_back(device.node->number);
  gpuaes::place_memory(memory, nodes);
  madvise(memory.data(), memory.size(), MADV_HUGEPAGE);  // huge pages make pinning faster
}

}  // namespace

std::vector<std::unique_ptr<Lane>> open_cuda_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup) {
  const std::vector<Device> devices = find_devices(specs);
  place_memory(setup.memory, devices);
  check(cudaSetDevice(devices.front().index));  // pinning opens a device: open one of these
  const auto pinned = std::make_shared<const PinnedRegion>(try_pin(setup.memory));
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const auto& [number, index, streams, node] : devices)
    for (unsigned i = 0; i < streams; ++i)
      lanes.push_back(
          std::make_unique<CudaLane>(number, index, node ? node->cpus : CpuList(), pinned, setup));
  return lanes;
}

}  // namespace gpuaes
