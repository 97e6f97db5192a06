// CUDA lanes: a thread that drives one CUDA stream with two jobs in flight. While the device copies and
// ciphers one job, the lane's thread reads the next chunk and queues it behind, so the device never waits for
// the thread. Copies in, kernels and copies out overlap between the lanes of a device.
//
// The ring is pinned once for all devices and lanes. Where the system does not allow that, the driver stages
// the copies: slower, and right.

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "cipher/aes.hpp"
#include "error.hpp"
#include "kernels.hpp"
#include "lane/lanes.hpp"
#include "runtime.hpp"

namespace gpuaes {
namespace {

using namespace cuda;

constexpr std::size_t round_key_bytes = sizeof(aes::RoundKeys::words);

// Pins for all devices, where the system allows it.
PinnedRegion try_pin(std::span<std::byte> memory) {
  try {
    return PinnedRegion(memory);
  } catch (const LaneError&) {
    cudaGetLastError();  // the runtime remembers it otherwise, and tells the next launch
    return {};
  }
}

// The round keys of one cipher key in device memory. They are copied from pinned pages of ours, which are
// wiped, so that the driver has no reason to keep a copy of its own.
class DeviceRoundKeys {
 public:
  DeviceRoundKeys() : host_(round_key_bytes), pinned_(try_pin(host_.bytes())), device_(round_key_bytes) {}

  void set(const CipherKey& key, const Stream& stream) {
    aes::RoundKeys keys = aes::expand_key(key.bytes.bytes());
    std::ranges::copy(std::as_bytes(std::span(keys.words)), host_.bytes().begin());
    wipe(std::as_writable_bytes(std::span(keys.words)));
    rounds_ = keys.rounds;
    check(cudaMemcpyAsync(device_.data(), host_.bytes().data(), round_key_bytes, cudaMemcpyHostToDevice,
                          stream.get()));
    stream.wait();
    wipe(host_.bytes());
  }

  const std::uint32_t* words() const { return reinterpret_cast<const std::uint32_t*>(device_.data()); }
  int rounds() const { return rounds_; }

 private:
  Secret host_;
  PinnedRegion pinned_;
  DeviceBuffer device_;
  int rounds_ = 0;
};

class CudaLane : public Lane {
 public:
  CudaLane(int device, std::shared_ptr<const PinnedRegion> pinned, std::size_t most_bytes)
      : device_((check(cudaSetDevice(device)), device)),
        pinned_(std::move(pinned)),
        slots_{Slot(most_bytes), Slot(most_bytes)} {
    // A kernel works on whole blocks: of a job's last one it also reads what no copy has written.
    for (const Slot& slot : slots_)
      check(cudaMemsetAsync(slot.buffer.data(), 0, slot.buffer.size(), stream_.get()));
    test_known_answers();
  }

  std::string name() const override { return fmt::format("cuda:{}", device_); }
  std::size_t depth() const override { return slots_.size(); }

  void start(const Job& job) override {
    check(cudaSetDevice(device_));  // the thread that opened the lane is not the one that drives it
    if (key_ != job.key) keys_.set(*job.key, stream_);
    key_ = job.key;
    const Slot& slot = slots_[started_++ % slots_.size()];
    const std::size_t size = job.in.size();
    std::byte* const data = slot.buffer.data();
    check(cudaMemcpyAsync(data, job.in.data(), size, cudaMemcpyHostToDevice, stream_.get()));
    launch_aes_ctr(keys_.words(), keys_.rounds(), load_counter(job.counter), data, data, size, stream_.get());
    check(cudaMemcpyAsync(job.out.data(), data, size, cudaMemcpyDeviceToHost, stream_.get()));
    slot.done.record(stream_);
  }

  void finish() override { slots_[finished_++ % slots_.size()].done.wait(); }

 private:
  struct Slot {
    explicit Slot(std::size_t size) : buffer((size + 15) / 16 * 16) {}
    DeviceBuffer buffer;
    Event done;
  };

  // The first to go, also when the constructor throws: nothing else may while the device could still use it.
  // A dead context answers with an error, and writes nothing any more.
  struct Idle {
    int device;
    cudaStream_t stream;
    ~Idle() {
      cudaSetDevice(device);
      cudaStreamSynchronize(stream);
    }
  };

  void test_known_answers();

  int device_;
  std::shared_ptr<const PinnedRegion> pinned_;  // the last lane unpins the ring
  Stream stream_;
  DeviceRoundKeys keys_;
  const CipherKey* key_ = nullptr;
  std::array<Slot, 2> slots_;
  std::size_t started_ = 0;
  std::size_t finished_ = 0;
  Idle idle_{device_, stream_.get()};
};

// The example vectors of FIPS 197, appendix C: with their plaintext as the counter, zeros become their
// ciphertext. Keys are 00 01 02 ... A device that computes wrongly must not touch anyone's backup.
struct KnownAnswer {
  Cipher cipher;
  CounterBlock ciphertext;
};
constexpr CounterBlock known_plaintext{0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                       0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
constexpr std::array known_answers{
    KnownAnswer{
        Cipher::aes_128,
        {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a}},
    KnownAnswer{
        Cipher::aes_192,
        {0xdd, 0xa9, 0x7c, 0xa4, 0x86, 0x4c, 0xdf, 0xe0, 0x6e, 0xaf, 0x70, 0xa0, 0xec, 0x0d, 0x71, 0x91}},
    KnownAnswer{
        Cipher::aes_256,
        {0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf, 0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89}},
};

void CudaLane::test_known_answers() {
  for (const KnownAnswer& known : known_answers) {
    CipherKey key{known.cipher, Secret(info(known.cipher).key_bytes)};
    for (std::size_t i = 0; i < key.bytes.size(); ++i) key.bytes.bytes()[i] = static_cast<std::byte>(i);
    const CounterBlock zeros{};
    CounterBlock out{};
    start({.key = &key,
           .counter = known_plaintext,
           .in = std::as_bytes(std::span(zeros)),
           .out = std::as_writable_bytes(std::span(out))});
    finish();
    key_ = nullptr;  // the next key may come to lie where this one was
    if (out != known.ciphertext)
      throw LaneError(fmt::format("{} computes {} wrongly", name(), info(known.cipher).name));
  }
}

std::size_t require_devices() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0)
    throw LaneError(fmt::format("no CUDA device can be used: {}",
                                error != cudaSuccess ? cudaGetErrorString(error) : "none is there"),
                    "-l cpu works everywhere");
  return static_cast<std::size_t>(count);
}

}  // namespace

std::size_t count_cuda_devices() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? static_cast<std::size_t>(count) : 0;
}

std::vector<std::string> describe_cuda_devices() {
  std::vector<std::string> lines;
  const std::size_t count = count_cuda_devices();
  for (std::size_t device = 0; device < count; ++device) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, static_cast<int>(device)));
    lines.push_back(
        fmt::format("cuda:{}\t{}, {} GiB", device, properties.name, properties.totalGlobalMem >> 30));
  }
  return lines;
}

std::vector<std::unique_ptr<Lane>> open_cuda_lanes(std::span<const LaneSpec> specs, const JobMemory& jobs) {
  const std::size_t count = require_devices();
  for (const LaneSpec& spec : specs)
    if (spec.device && *spec.device >= count)
      throw LaneError(fmt::format("there is no CUDA device {}: this machine has {}", *spec.device, count),
                      "gpuaes-stream --list-lanes lists them");
  check(cudaSetDevice(
      static_cast<int>(specs.front().device.value_or(0))));        // pinning opens a device: one of these
  madvise(jobs.memory.data(), jobs.memory.size(), MADV_HUGEPAGE);  // pinning is three times as fast then
  const auto pinned = std::make_shared<const PinnedRegion>(try_pin(jobs.memory));
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const LaneSpec& spec : specs) {
    const std::size_t begin = spec.device.value_or(0);
    const std::size_t end = spec.device ? begin + 1 : count;
    for (std::size_t device = begin; device < end; ++device)
      for (unsigned i = 0; i < spec.count.value_or(1); ++i)
        lanes.push_back(std::make_unique<CudaLane>(static_cast<int>(device), pinned, jobs.most_bytes));
  }
  return lanes;
}

}  // namespace gpuaes
