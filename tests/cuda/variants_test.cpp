// Tests the bench's kernels against the reference. Needs a GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "bench/table_kernels.hpp"
#include "bench/variants.hpp"
#include "device_key.hpp"
#include "runtime.hpp"
#include "support/aes_reference.hpp"
#include "support/catch.hpp"
#include "support/keys.hpp"
#include "support/kuznyechik_reference.hpp"

namespace gpuaes {
namespace {

using cuda::Variant;

constexpr std::uint64_t all = ~std::uint64_t{0};
constexpr std::size_t max_bytes = (1 << 20) + 16;
constexpr std::size_t guard_bytes = 256;  // bytes after the output that are checked
constexpr std::byte untouched{0xa5};
constexpr Counter any_counter{0x0123456789abcdef, 0xfedcba9876543210};

Bytes random_bytes(std::size_t size) {
  std::mt19937 random(static_cast<unsigned>(size));
  Bytes bytes(size);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

struct Case {
  Counter counter;
  Bytes in, expected;
};

struct Work {
  Cipher cipher;
  Bytes key;
  std::vector<Case> cases;
};

// Counter mode with the cipher as its standard defines it.
Bytes expected_ctr(Cipher cipher, const Bytes& key, Counter counter, const Bytes& in) {
  if (info(cipher).family == Family::aes) return reference_ctr(aes::expand_key(key), counter, in);
  const kuznyechik::RoundKeys keys = kuznyechik::expand_key(key);
  const auto encrypt = [&](const CounterBlock& block) { return kuznyechik::encrypt(keys, block); };
  return reference_ctr(encrypt, counter, in);
}

std::vector<Work> all_work() {
  std::vector<Work> works;
  for (const CipherInfo& info : ciphers) {
    if (!info.ctr) continue;
    Work work{info.cipher, random_bytes(info.key_bytes), {}};
    const auto add = [&](Counter counter, std::size_t size) {
      const Bytes in = random_bytes(size);
      work.cases.push_back({counter, in, expected_ctr(info.cipher, work.key, counter, in)});
    };
    for (const std::size_t size : {0, 1, 15, 16, 17, 4096 + 16, (1 << 20) + 5}) add(any_counter, size);
    for (const Counter& counter : {Counter{7, 0xffffff01}, Counter{7, all - 0xfe}, Counter{all, all - 0xfe}})
      add(counter, 16 * 1000 + 3);
    works.push_back(std::move(work));
  }
  return works;
}

class Device {
 public:
  // Checks the output of launch(in, out, size, stream), and that it writes nothing after it.
  template <class Launch>
  bool does(const Launch& launch, const Case& work, bool in_place) {
    const std::size_t size = work.in.size(), padded = (size + 15) / 16 * 16;
    Bytes out(padded + guard_bytes, untouched);
    if (in_place) std::ranges::copy(work.in, out.begin());
    cuda::check(cudaMemcpy(in_.data(), work.in.data(), size, cudaMemcpyHostToDevice));
    cuda::check(cudaMemcpy(out_.data(), out.data(), out.size(), cudaMemcpyHostToDevice));
    // A copy from pageable memory may return early, and the stream would not wait for it.
    cuda::check(cudaDeviceSynchronize());
    launch(in_place ? out_.data() : in_.data(), out_.data(), size, stream_.get());
    stream_.wait();
    cuda::check(cudaMemcpy(out.data(), out_.data(), out.size(), cudaMemcpyDeviceToHost));
    return std::equal(work.expected.begin(), work.expected.end(), out.begin()) &&
           std::all_of(out.begin() + static_cast<std::ptrdiff_t>(padded), out.end(),
                       [](std::byte b) { return b == untouched; });
  }

 private:
  cuda::Stream stream_;
  cuda::DeviceBuffer in_{max_bytes};
  cuda::DeviceBuffer out_{max_bytes + guard_bytes};
};

// `cuda_blocks` as in VariantKernel.
void check_variant(const Variant& variant, unsigned blocks_per_thread, unsigned cuda_blocks,
                   const std::vector<Work>& works, Device& device, bool in_place = false) {
  for (const Work& work : works) {
    if (!variant.is_for(work.cipher)) continue;
    const cuda::VariantKernel kernel(variant, make_key(work.key, work.cipher), blocks_per_thread,
                                     cuda_blocks);
    for (const Case& one : work.cases) {
      CAPTURE(variant.name, work.cipher, one.in.size(), one.counter.low, blocks_per_thread, cuda_blocks,
              in_place);
      const auto launch = [&](const std::byte* in, std::byte* out, std::size_t size, cudaStream_t stream) {
        kernel.launch(one.counter, in, out, size, stream);
      };
      CHECK(device.does(launch, one, in_place));
    }
  }
}

// The kernels with tables in shared memory.
void check_table_kernels(const Work& work, Device& device, bool in_place) {
  cuda::PinnedSecret host(sizeof(cuda::ExpandedKey));
  cuda::DeviceBuffer memory(sizeof(cuda::ExpandedKey));
  cuda::DeviceKey key(reinterpret_cast<cuda::ExpandedKey*>(host.data()),
                      reinterpret_cast<cuda::ExpandedKey*>(memory.data()));
  key.set(make_key(work.key, work.cipher), cuda::Stream());
  for (const Case& one : work.cases) {
    const auto launch = [&](const std::byte* in, std::byte* out, std::size_t size, cudaStream_t stream) {
      if (info(work.cipher).family == Family::aes)
        cuda::launch_aes_table_ctr(key.aes(), one.counter, in, out, size, stream);
      else
        cuda::launch_kuznyechik_table_ctr(key.kuznyechik(), one.counter, in, out, size, stream);
    };
    CAPTURE(work.cipher, one.in.size(), one.counter.low, in_place);
    CHECK(device.does(launch, one, in_place));
  }
}

cuda::VariantKernel make_kernel(const Variant& variant, unsigned blocks_per_thread) {
  const Cipher cipher = variant.is_for(Cipher::aes_128) ? Cipher::aes_128 : Cipher::kuznyechik;
  return cuda::VariantKernel(variant, CipherKey{cipher, Secret(info(cipher).key_bytes)}, blocks_per_thread);
}

}  // namespace

TEST_CASE("every variant matches the reference, also in place", "[gpu]") {
  const std::vector<Work> works = all_work();
  Device device;
  for (const Variant& variant : cuda::variants()) {
    check_variant(variant, 1, 1, works, device);  // few CUDA blocks, which loop
    for (const auto& [blocks, kernel] : variant.kernels) {
      check_variant(variant, blocks, 0, works, device);
      check_variant(variant, blocks, 3, works, device);
      check_variant(variant, blocks, 0, works, device, true);
    }
  }
}

TEST_CASE("the table kernels match the reference in CTR mode, also in place", "[gpu]") {
  Device device;
  for (const Work& work : all_work()) {
    check_table_kernels(work, device, false);
    check_table_kernels(work, device, true);
  }
}

TEST_CASE("a variant's kernel reports its resource use and keeps its blocks in registers", "[gpu]") {
  for (const Variant& variant : cuda::variants()) {
    for (const auto& [blocks, function] : variant.kernels) {
      const cuda::KernelUse use = make_kernel(variant, blocks).use();
      CAPTURE(variant.name, blocks);
      CHECK(use.registers > 0);
      CHECK(use.resident > 0);
      // A few registers may spill, but not the cipher blocks of a thread with four or more.
      CHECK(use.local_bytes < 64);
    }
  }
}

}  // namespace gpuaes
