// CUDA lanes: a lane is a thread that drives one CUDA stream with two jobs in flight. While the device works
// on one job, the thread reads the next chunk and enqueues it, so the device never waits for the thread.
// Copies in, kernels and copies out of a device's lanes overlap.
//
// The ring is pinned once for all devices and lanes of a run. If the system refuses to pin it, the driver
// stages the copies, which is slower. The lanes' own memory is allocated once for each device (arena.hpp).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "arena.hpp"
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

// A device that a spec names.
struct Device {
  unsigned number;  // the user's
  int index;        // the runtime's
  unsigned streams;
  std::optional<NumaNode> node;
};

class CudaLane : public Lane {
 public:
  // `device` is current.
  CudaLane(const Device& device, std::shared_ptr<const PinnedRegion> pinned, LaneMemory memory,
           const LaneSetup& setup)
      : number_(device.number),
        device_(device.index),
        cpus_(device.node ? device.node->cpus : CpuList()),
        pinned_(std::move(pinned)),
        memory_(std::move(memory)),
        keys_(&memory_.on_host->key, &memory_.on_device->key),
        buffers_{JobBuffers(memory_, 0, setup.timed), JobBuffers(memory_, 1, setup.timed)} {
    for (const JobBuffers& buffers : buffers_) buffers.forget_bad(stream_);
  }

  // One lane of each device must pass it before the device gets any data.
  void self_test(Cipher cipher) {
    const ProfilerRange profiler_range("self-test");
    test_known_answers(*this, cipher);
  }

  std::string name() const override { return fmt::format("cuda:{}", number_); }
  std::size_t depth() const override { return buffers_.size(); }
  bool copies() const override { return true; }
  std::span<const unsigned> cpus() const override { return cpus_; }

  void start(const Job& job) override {
    check(cudaSetDevice(device_));  // lanes are opened and driven by different threads
    if (key_ != job.key->id) keys_.set(*job.key, stream_);
    key_ = job.key->id;
    JobBuffers& buffers = buffers_[started_++ % buffers_.size()];
    Steps steps(buffers.times, stream_);
    steps.next("H2D");
    check(cudaMemcpyAsync(buffers.memory.in, job.in.data(), job.in.size(), cudaMemcpyHostToDevice,
                          stream_.get()));
    steps.next("kernel");
    const std::byte* const out = launch(job, buffers);
    steps.next("D2H");
    check(cudaMemcpyAsync(job.out.data(), out, job.out.size(), cudaMemcpyDeviceToHost, stream_.get()));
    buffers.opens = job.operation == Operation::open;
    if (buffers.opens)
      check(cudaMemcpyAsync(buffers.first_bad, buffers.first_bad_on_device, sizeof *buffers.first_bad,
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
  // What a job in flight needs.
  struct JobBuffers {
    JobBuffers(const LaneMemory& lane, std::size_t number, bool timed)
        : memory(lane.jobs[number]),
          first_bad(&lane.on_host->first_bad[number]),
          first_bad_on_device(&lane.on_device->first_bad[number]),
          times(timed) {}
    void forget_bad(const Stream& stream) const {
      static_assert(none_bad == 0xffffffff);
      check(cudaMemsetAsync(first_bad_on_device, 0xff, sizeof none_bad, stream.get()));
    }
    // For MGM. Allocated on demand and no larger than necessary, because it is larger than the job's data.
    std::byte* scratch_for(std::size_t sealed_bytes, std::size_t aad_bytes) {
      const std::size_t size = count_segments(sealed_bytes) * mgm_scratch_bytes(aad_bytes);
      if (mgm_scratch.size() < size) mgm_scratch = DeviceBuffer(size);
      return mgm_scratch.data();
    }

    JobMemory memory;
    std::uint32_t* first_bad;
    std::uint32_t* first_bad_on_device;
    DeviceBuffer mgm_scratch;
    bool opens = false;
    Event done;
    JobTimes times;
  };

  // Returns where the output will be on the device.
  const std::byte* launch(const Job& job, JobBuffers& buffers) {
    if (job.operation == Operation::ctr) {
      launch_ctr(job, buffers.memory.in);
      return buffers.memory.in;
    }
    launch_aead(job, buffers);
    return buffers.memory.out;
  }

  void launch_ctr(const Job& job, std::byte* in) {
    const Counter counter = load_counter(job.counter);
    switch (info(job.key->cipher).family) {
      case Family::aes:
        return launch_aes_ctr(keys_.aes(), counter, in, in, job.in.size(), stream_.get());
      case Family::kuznyechik:
        return launch_kuznyechik_ctr(keys_.kuznyechik(), counter, in, in, job.in.size(), stream_.get());
      case Family::chacha20:
        break;
    }
    refuse_cipher(job.key->cipher);
  }

  void launch_aead(const Job& job, JobBuffers& buffers) {
    check_nonce(job);
    if (job.rules != info(job.key->cipher).segments)
      throw LaneError("cuda: the job's segments are not those of its cipher");
    const std::size_t sealed_bytes = std::max(job.in.size(), job.out.size());
    const auto launch = [&](auto* seal, auto* open, auto device_job) {
      device_job.base_nonce = job.base_nonce;
      device_job.first_segment = job.first_segment;
      device_job.aad = public_data(job.aad);
      device_job.sealed_bytes = sealed_bytes;
      const JobMemory& memory = buffers.memory;
      if (job.operation == Operation::seal)
        seal(device_job, memory.in, memory.out, stream_.get());
      else
        open(device_job, memory.in, memory.out, buffers.first_bad_on_device, stream_.get());
    };
    switch (info(job.key->cipher).family) {
      case Family::aes:
        return launch(launch_gcm_seal, launch_gcm_open,
                      GcmJob{.key = keys_.aes(), .powers = keys_.powers(), .masks = buffers.memory.masks});
      case Family::kuznyechik:
        return launch(
            launch_mgm_seal, launch_mgm_open,
            MgmJob{.key = keys_.kuznyechik(), .scratch = buffers.scratch_for(sealed_bytes, job.aad.size())});
      case Family::chacha20:
        return launch(
            launch_chacha20_seal, launch_chacha20_open,
            ChaCha20Job{
                .key = keys_.chacha20(), .ends_message = job.ends_message, .sums = buffers.memory.sums});
    }
    refuse_cipher(job.key->cipher);
  }

  // Destroyed first, even if the constructor throws: the stream must be idle and its device current when the
  // memory is freed. A dead context only returns an error and no longer writes.
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
  std::shared_ptr<const PinnedRegion> pinned_;  // the last lane unpins the ring
  LaneMemory memory_;                           // the last lane of the device wipes it
  Stream stream_;
  DeviceKey keys_;
  std::uint64_t key_ = 0;  // its id; 0 for none
  std::array<JobBuffers, cuda_jobs_per_lane> buffers_;
  std::size_t started_ = 0;
  std::size_t finished_ = 0;
  Idle idle_{device_, stream_.get()};
};

// The devices of all specs, each once.
std::vector<Device> find_devices(std::span<const LaneSpec> specs) {
  const auto count = static_cast<int>(require_cuda_devices(Advice::use_cpu_lanes));
  std::vector<Device> devices;
  for (const LaneSpec& spec : specs) {
    const unsigned device = spec.device.value();
    const auto index = static_cast<int>(spec.shown_as.value_or(device));
    if (index >= count) throw no_such_device(spec, static_cast<std::size_t>(count));
    const unsigned streams = spec.count.value_or(1);
    const auto found = std::ranges::find(devices, device, &Device::number);
    if (found != devices.end())
      found->streams += streams;
    else
      devices.push_back({device, index, streams, node_of_pci_device(pci_address(index))});
  }
  return devices;
}

// Any device may do any job, so the memory is spread over the nodes of all visible devices.
void place_memory(std::span<std::byte> memory) {
  std::vector<unsigned> nodes;
  for (int device = 0; device < static_cast<int>(count_cuda_devices()); ++device)
    if (const std::optional<NumaNode> node = node_of_pci_device(pci_address(device)))
      nodes.push_back(node->number);
  gpuaes::place_memory(memory, nodes);
}

// Places and pins the ring when the first device is opened. Devices that are opened later use it, too.
std::shared_ptr<const PinnedRegion> pin_ring(std::span<std::byte> memory) {
  static std::mutex mutex;
  static std::weak_ptr<const PinnedRegion> current;
  static const std::byte* current_memory = nullptr;
  const std::lock_guard lock(mutex);
  if (auto pinned = current.lock(); pinned && current_memory == memory.data()) return pinned;
  place_memory(memory);
  auto pinned = std::make_shared<const PinnedRegion>(try_pin(memory));
  current = pinned;
  current_memory = memory.data();
  return pinned;
}

std::vector<std::unique_ptr<CudaLane>> open_device(const Device& device,
                                                   const std::shared_ptr<const PinnedRegion>& pinned,
                                                   const LaneSetup& setup) {
  check(cudaSetDevice(device.index));
  std::vector<std::unique_ptr<CudaLane>> lanes;
  for (LaneMemory& memory : allocate_lanes(device.streams, setup))
    lanes.push_back(std::make_unique<CudaLane>(device, pinned, std::move(memory), setup));
  lanes.front()->self_test(setup.cipher);
  return lanes;
}

}  // namespace

std::vector<std::unique_ptr<Lane>> open_cuda_lanes(std::span<const LaneSpec> specs, const LaneSetup& setup) {
  const std::vector<Device> devices = find_devices(specs);
  check(cudaSetDevice(devices.front().index));  // pinning opens a device: open one of these
  const std::shared_ptr<const PinnedRegion> pinned = pin_ring(setup.memory);
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const Device& device : devices)
    std::ranges::move(open_device(device, pinned, setup), std::back_inserter(lanes));
  return lanes;
}

}  // namespace gpuaes
