// Tests AES-CTR on the GPU against the reference. Needs a GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <string>

#include "kernels/kernels.hpp"
#include "runtime.hpp"
#include "support/aes_reference.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"

namespace gpuaes {
namespace {

constexpr std::uint64_t all = ~std::uint64_t{0};
constexpr std::byte untouched{0xa5};

aes::RoundKeys test_keys(std::size_t key_bytes) {
  return aes::expand_key(test_bytes(key_bytes));
}

void copy_bytes(std::byte* to, const void* from, std::size_t size) {
  cuda::check(cudaMemcpy(to, from, size, cudaMemcpyDefault));
}

cuda::AesKey key_of(const cuda::DeviceBuffer& device, const aes::RoundKeys& keys) {
  return {reinterpret_cast<const std::uint32_t*>(device.data()), keys.rounds};
}

// The kernel's output for `in`, and the next 64 bytes of the buffer, which contained `untouched` before.
Bytes run_kernel(const aes::RoundKeys& keys, Counter counter, const Bytes& in) {
  const std::size_t padded = (in.size() + 15) / 16 * 16;
  const cuda::DeviceBuffer device_keys(sizeof keys.words), device_in(padded + 16), device_out(padded + 64);
  copy_bytes(device_keys.data(), keys.words.data(), sizeof keys.words);
  copy_bytes(device_in.data(), in.data(), in.size());
  Bytes out(padded + 64, untouched);
  copy_bytes(device_out.data(), out.data(), out.size());
  // A copy from pageable memory may return early, and the stream would not wait for it.
  cuda::check(cudaDeviceSynchronize());
  const cuda::Stream stream;
  cuda::launch_aes_ctr(key_of(device_keys, keys), counter, device_in.data(), device_out.data(), in.size(),
                       stream.get());
  stream.wait();
  copy_bytes(out.data(), device_out.data(), out.size());
  return out;
}

void check_kernel(std::size_t key_bytes, Counter counter, std::size_t size) {
  const aes::RoundKeys keys = test_keys(key_bytes);
  const Bytes in = test_bytes(size), expected = reference_ctr(keys, counter, in);
  CAPTURE(key_bytes, counter.high, counter.low, size);
  const Bytes out = run_kernel(keys, counter, in);
  const auto after = out.begin() + static_cast<std::ptrdiff_t>((size + 15) / 16 * 16);
  CHECK(std::equal(expected.begin(), expected.end(), out.begin()));
  CHECK(std::all_of(after, out.end(), [](std::byte b) { return b == untouched; }));
}

}  // namespace

TEST_CASE("AES-CTR on the GPU matches the reference for every size and writes nothing past the end",
          "[gpu]") {
  for (const std::size_t key_bytes : {16, 24, 32})
    for (const std::size_t size : {0, 1, 15, 16, 17, 31, 32, 4095, 4096, 4097, (1 << 20) + 5})
      check_kernel(key_bytes, {0x0123456789abcdef, 0xfedcba9876543210}, size);
}

TEST_CASE("AES-CTR on the GPU starts at any counter within a tile", "[gpu]") {
  for (std::uint64_t start = 0; start <= 256; ++start) check_kernel(16, {0, start}, 16 * 200 + 1);
}

TEST_CASE("AES-CTR on the GPU encrypts more than 4 GiB in one launch", "[gpu][optional]") {
  constexpr std::size_t size = (std::size_t{4} << 30) + (1 << 20) + 5;
  std::size_t available = 0, total = 0;
  cuda::check(cudaMemGetInfo(&available, &total));
  if (available < size + (std::size_t{1} << 30))
    return skip("only " + std::to_string(available) + " bytes of device memory is free");
  const aes::RoundKeys keys = test_keys(32);
  const Counter counter{0xffffffff, all - 1000};
  const cuda::DeviceBuffer device_keys(sizeof keys.words), data(size + 16);
  copy_bytes(device_keys.data(), keys.words.data(), sizeof keys.words);
  // The length of a piece is a multiple of the period of the test bytes.
  const Bytes piece = test_bytes(std::size_t{251} << 16);
  const auto equal_at = [&](std::size_t block) {
    Bytes in(64 * 16), out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>((block * 16 + i) % 251);
    copy_bytes(out.data(), data.data() + block * 16, out.size());
    return out == reference_ctr(keys, counter + block, in);
  };
  for (std::size_t at = 0; at < size; at += piece.size())
    copy_bytes(data.data() + at, piece.data(), std::min(piece.size(), size - at));
  cuda::launch_aes_ctr(key_of(device_keys, keys), counter, data.data(), data.data(), size, nullptr);
  bool all_equal = equal_at(size / 16 - 64);
  for (std::size_t block = 0; block + 64 < size / 16; block += 1234567) all_equal &= equal_at(block);
  CHECK(all_equal);
}

}  // namespace gpuaes
