#include "bench/variants.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "bench/aes_lookup.hpp"
#include "bench/variant_arguments.hpp"
#include "cipher/kuznyechik/ls_table.hpp"

namespace gpuaes::cuda {
namespace {

// For tex1Dfetch(): LS tables as elements of 16 bytes, T-tables as elements of 4.
cudaTextureObject_t make_texture(const VariantTables* tables, bool of_ls) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  auto& linear = resource.res.linear;
  const int more = of_ls ? 32 : 0;
  linear.devPtr = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(tables)) +
                  (of_ls ? offsetof(VariantTables, ls) : offsetof(VariantTables, aes));
  linear.desc = {.x = 32, .y = more, .z = more, .w = more, .f = cudaChannelFormatKindUnsigned};
  linear.sizeInBytes = of_ls ? sizeof(kuznyechik::LsTables) : sizeof(aes::LookupTables::words);
  cudaTextureDesc description{};
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  check(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

std::array<std::uint32_t, max_key_words> make_round_keys(const Variant& variant, const CipherKey& key) {
  const std::span<const std::byte> bytes = key.bytes.bytes();
  std::array<std::uint32_t, max_key_words> words{};
  if (variant.lookup == Lookup::ls_tables)
    std::ranges::copy(kuznyechik::make_key_words(kuznyechik::expand_key(bytes)), words.begin());
  else
    std::ranges::copy(aes::expand_key(bytes).words, words.begin());
  return words;
}

}  // namespace

KernelUse prepare_kernel(const void* kernel, unsigned threads, unsigned shared_bytes) {
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, kernel));
  const int max_shared = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  if (threads > static_cast<unsigned>(attributes.maxThreadsPerBlock))
    throw LaneError(fmt::format("its {} registers allow at most {} threads in a CUDA block",
                                attributes.numRegs, attributes.maxThreadsPerBlock));
  if (attributes.sharedSizeBytes + shared_bytes > static_cast<std::size_t>(max_shared))
    throw LaneError(fmt::format("it takes {} bytes of shared memory, and this device has {} for a CUDA block",
                                attributes.sharedSizeBytes + shared_bytes, max_shared));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             max_shared - static_cast<int>(attributes.sharedSizeBytes)));
  KernelUse use{.registers = attributes.numRegs, .local_bytes = attributes.localSizeBytes, .resident = 0};
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&use.resident, kernel, static_cast<int>(threads),
                                                      shared_bytes));
  return use;
}

VariantKernel::VariantKernel(const Variant& variant, const CipherKey& key, unsigned blocks_per_thread,
                             unsigned cuda_blocks)
    : keys_(make_round_keys(variant, key)),
      rounds_(static_cast<int>(key.bytes.bytes().size() / 4 + 6)),
      tile_blocks_(blocks_per_thread * variant_threads / variant.threads_per_block),
      kernel_(variant.kernels.at(blocks_per_thread)),
      shared_bytes_(variant.shared_bytes),
      use_(prepare_kernel(kernel_, variant_threads, shared_bytes_)),
      cuda_blocks_(cuda_blocks) {
  if (cuda_blocks_ == 0)
    cuda_blocks_ = static_cast<unsigned>(use_.resident * attribute(cudaDevAttrMultiProcessorCount));
  static const VariantTables tables{kuznyechik::make_ls_tables(), aes::make_lookup_tables()};
  tables_ = DeviceBuffer(sizeof tables);
  check(cudaMemcpy(tables_.data(), &tables, sizeof tables, cudaMemcpyHostToDevice));
  // A copy from pageable memory may return early, and not all streams would wait for it.
  check(cudaDeviceSynchronize());
  texture_ = make_texture(device_tables(), variant.lookup == Lookup::ls_tables);
}

const VariantTables* VariantKernel::device_tables() const {
  return reinterpret_cast<const VariantTables*>(tables_.data());
}

VariantKernel::~VariantKernel() {
  cudaDestroyTextureObject(texture_);
}

void VariantKernel::launch(Counter counter, const std::byte* in, std::byte* out, std::size_t size,
                           cudaStream_t stream) const {
  if (size == 0) return;
  VariantArguments arguments{.rounds = rounds_,
                             .tables = device_tables(),
                             .texture = texture_,
                             .counter = counter,
                             .blocks = (size + 15) / 16,
                             .in = in,
                             .out = out};
  std::ranges::copy(keys_, arguments.round_keys);
  const std::uint64_t tiles = (arguments.blocks + tile_blocks_ - 1) / tile_blocks_;
  const auto grid = static_cast<unsigned>(std::min<std::uint64_t>(tiles, cuda_blocks_));
  void* parameters[] = {&arguments};
  check(cudaLaunchKernel(kernel_, grid, variant_threads, parameters, shared_bytes_, stream));
}

}  // namespace gpuaes::cuda
