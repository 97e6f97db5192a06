#include "bench/reference.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/libcrypto.hpp"
#include "cipher/kuznyechik/cpu.hpp"
#include "lane/backends.hpp"

namespace gpuaes::cuda {
namespace {

const EVP_CIPHER* ecb_cipher(Cipher cipher) {
  switch (cipher) {
    case Cipher::aes_128:
      return EVP_aes_128_ecb();
    case Cipher::aes_192:
      return EVP_aes_192_ecb();
    case Cipher::aes_256:
      return EVP_aes_256_ecb();
    case Cipher::kuznyechik:
      break;
  }
  refuse_cipher(cipher);
}

std::vector<std::byte> encrypt_aes(const CipherKey& key, std::span<const std::byte> in) {
  const EVP_CIPHER* const cipher = ecb_cipher(key.cipher);
  const CipherContext context(EVP_CIPHER_CTX_new());
  std::vector<std::byte> out(in.size());
  int written = 0;
  check_libcrypto<LaneError>(
      context != nullptr && EVP_CipherInit_ex(context.get(), cipher, nullptr,
                                              octets(key.bytes.bytes().data()), nullptr, 1) == 1,
      "EVP_CipherInit_ex");
  check_libcrypto<LaneError>(EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1, "EVP_CIPHER_CTX_set_padding");
  check_libcrypto<LaneError>(EVP_CipherUpdate(context.get(), octets(out.data()), &written, octets(in.data()),
                                              static_cast<int>(in.size())) == 1,
                             "EVP_CipherUpdate");
  return out;
}

std::vector<std::byte> encrypt_kuznyechik(const CipherKey& key, std::span<const std::byte> in) {
  std::vector<std::byte> out(in.begin(), in.end());
  KuznyechikCpu(key.bytes.bytes())
      .encrypt({reinterpret_cast<kuznyechik::Block*>(out.data()), out.size() / sizeof(kuznyechik::Block)});
  return out;
}

// In ECB mode.
std::vector<std::byte> encrypt_blocks(const CipherKey& key, std::span<const std::byte> in) {
  switch (info(key.cipher).family) {
    case Family::aes:
      return encrypt_aes(key, in);
    case Family::kuznyechik:
      return encrypt_kuznyechik(key, in);
  }
  refuse_cipher(key.cipher);
}

}  // namespace

std::size_t Reference::size_for(KernelMode mode) {
  return (64 << 20) + (is_ecb(mode) ? 0 : 5);
}

void Reference::check(const Subject& subject, const BenchKernel& kernel, const BenchKey& key,
                      std::size_t size, const Stream& stream) {
  if (agrees(kernel, key, size, stream)) return;
  std::string what = fmt::format("{}, {}, {}, {} bytes", subject.name, info(key.key.cipher).name,
                                 info(kernel.mode()).name, size);
  const KernelShape& shape = kernel.shape();
  if (shape.threads > 0) what += fmt::format(", {} threads", shape.threads);
  if (shape.blocks_per_thread > 0) what += fmt::format(", {} blocks a thread", shape.blocks_per_thread);
  throw LaneError("not exact on the device: " + what);
}

// The output is cleared first because it may hold the right result of an earlier kernel.
bool Reference::agrees(const BenchKernel& kernel, const BenchKey& key, std::size_t size,
                       const Stream& stream) {
  const BenchData::Piece piece = data_.piece(kernel.mode(), 0, size);
  const InOut in_out = in_out_of(kernel.mode(), piece);
  const bool opens = kernel.mode() == KernelMode::open;
  if (opens) {
    const std::vector<std::byte> sealed = expected(KernelMode::seal, key, size);
    cuda::check(cudaMemcpy(in_out.in, sealed.data(), sealed.size(), cudaMemcpyHostToDevice));
  }
  cuda::check(cudaMemset(in_out.out, 0, in_out.out_bytes));
  cuda::check(cudaDeviceSynchronize());
  kernel.launch(piece, stream);
  stream.wait();
  const std::vector<std::byte> got = copy_of(in_out.out, in_out.out_bytes);
  if (opens) {
    std::uint32_t first_bad;
    cuda::check(cudaMemcpy(&first_bad, piece.first_bad, sizeof first_bad, cudaMemcpyDeviceToHost));
    return first_bad == none_bad && std::ranges::equal(got, std::span(data_.plain()).first(size));
  }
  if (kernel.mode() == KernelMode::ecb_decrypt)  // encrypting the result must give the input
    return std::ranges::equal(encrypt_blocks(key.key, got), std::span(data_.plain()).first(size));
  return got == expected(kernel.mode(), key, size);
}

std::vector<std::byte> Reference::expected(KernelMode mode, const BenchKey& key, std::size_t size) {
  if (size != size_for(mode)) return make(mode, key, size);
  std::vector<std::byte>& kept = made_[{key.key.cipher, mode}];
  if (kept.empty()) kept = make(mode, key, size);
  return kept;
}

std::vector<std::byte> Reference::make(KernelMode mode, const BenchKey& key, std::size_t size) const {
  const std::span<const std::byte> in = std::span(data_.plain()).first(size);
  if (is_ecb(mode)) return encrypt_blocks(key.key, in);
  std::vector<std::byte> out(is_aead(mode) ? sealed_size(size) : size);
  const std::unique_ptr<Lane> cpu = make_cpu_lane();
  cpu->start({.operation = is_aead(mode) ? Operation::seal : Operation::ctr,
              .key = &key.key,
              .in = in,
              .out = out,
              .counter = bench_counter,
              .base_nonce = bench_nonce(key.key.cipher)});
  cpu->finish();
  return out;
}

}  // namespace gpuaes::cuda
