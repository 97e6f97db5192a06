#include "variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "arguments.hpp"
#include "cipher/aes_inverse.hpp"
#include "error.hpp"

namespace gpuaes::cuda {
namespace {

constexpr unsigned side_by_side[] = {1, 2, 4, 8, 16};

// The T-tables as a texture of 32-bit words, from which tex1Dfetch() reads.
cudaTextureObject_t make_texture(const DeviceBuffer& tables) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = tables.data();
  resource.res.linear.desc = {.x = 32, .y = 0, .z = 0, .w = 0, .f = cudaChannelFormatKindUnsigned};
  resource.res.linear.sizeInBytes = sizeof(aes::LookupTables::words);
  cudaTextureDesc description{};
  description.readMode = cudaReadModeElementType;
  cudaTextureObject_t texture;
  check(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

const void* choose_kernel(const Variant& variant, Mode mode, const LaunchShape& shape) {
  if (shape.threads < 32 || shape.threads > 1024 || !std::has_single_bit(shape.threads))
    throw UsageError(
        fmt::format("{} threads: a CUDA block has 32, 64, 128, 256, 512 or 1024", shape.threads));
  const void* const kernel = variant.kernel(mode, shape.blocks_per_thread);
  if (kernel == nullptr)
    throw UsageError(
        fmt::format("{} has no kernel for {} blocks a thread", variant.name, shape.blocks_per_thread));
  return kernel;
}

// Has the kernel take the shared memory that it needs, and says what it uses in that shape.
KernelUse allow_shape(const Variant& variant, const void* kernel, const LaunchShape& shape) {
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, kernel));
  KernelUse use{.registers = attributes.numRegs,
                .local_bytes = attributes.localSizeBytes,
                .shared_bytes = attributes.sharedSizeBytes + variant.shared_bytes,
                .resident = 0};
  if (shape.threads > static_cast<unsigned>(attributes.maxThreadsPerBlock))
    throw UsageError(fmt::format("{} with {} blocks a thread takes {} registers: {} threads are the most",
                                 variant.name, shape.blocks_per_thread, use.registers,
                                 attributes.maxThreadsPerBlock));
  const auto most_shared = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (use.shared_bytes > most_shared)
    throw LaneError(fmt::format("{} takes {} bytes of shared memory, and this device has {} for a CUDA block",
                                variant.name, use.shared_bytes, most_shared));
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(variant.shared_bytes)));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&use.resident, kernel, static_cast<int>(shape.threads),
                                                      variant.shared_bytes));
  return use;
}

}  // namespace

std::span<const Variant> variants() {
  static const std::vector<Variant> all = [] {
    std::vector<Variant> list;
    const auto append = [&](const auto& more) { list.insert(list.end(), more.begin(), more.end()); };
    append(constant_variants);
    append(global_variants);
    append(texture_variants);
    append(shared_variants);
    append(banked_variants);
    return list;
  }();
  return all;
}

const Variant& find_variant(std::string_view name) {
  const auto all = variants();
  const auto found = std::ranges::find(all, name, &Variant::name);
  if (found == all.end()) throw UsageError(fmt::format("no kernel variant is named '{}'", name));
  return *found;
}

std::span<const unsigned> blocks_per_thread(const Variant& variant) {
  return std::span(side_by_side).first(variant.threads_per_block == 1 ? std::size(side_by_side) : 1);
}

VariantKernel::VariantKernel(const Variant& variant, Mode mode, const aes::RoundKeys& keys,
                             const LaunchShape& shape)
    : name_(variant.name),
      mode_(mode),
      keys_(mode == Mode::ecb_decrypt ? aes::make_decryption_keys(keys) : keys),
      shape_(shape),
      tile_blocks_(shape.blocks_per_thread * shape.threads / variant.threads_per_block),
      kernel_(choose_kernel(variant, mode, shape)),
      shared_bytes_(variant.shared_bytes),
      use_(allow_shape(variant, kernel_, shape)) {
  if (shape_.cuda_blocks == 0)
    shape_.cuda_blocks = static_cast<unsigned>(use_.resident * attribute(cudaDevAttrMultiProcessorCount));
  const aes::LookupTables tables =
      aes::make_lookup_tables(mode == Mode::ecb_decrypt ? aes::Direction::decrypt : aes::Direction::encrypt);
  check(cudaMemcpy(tables_.data(), &tables, sizeof tables, cudaMemcpyHostToDevice));
  // A copy from pageable memory may return before it has arrived, and not all streams would wait for it.
  check(cudaDeviceSynchronize());
  texture_ = make_texture(tables_);
}

VariantKernel::~VariantKernel() {
  cudaDestroyTextureObject(texture_);
}

void VariantKernel::launch(Counter counter, const std::byte* in, std::byte* out, std::size_t size,
                           cudaStream_t stream) const {
  if (mode_ != Mode::ctr && size % 16 != 0)
    throw UsageError(fmt::format("{}: ECB works on whole blocks of 16 bytes, and not on {}", name_, size));
  if (size == 0) return;
  VariantArguments arguments{.rounds = keys_.rounds,
                             .tables = reinterpret_cast<const aes::LookupTables*>(tables_.data()),
                             .texture = texture_,
                             .counter = counter,
                             .blocks = (size + 15) / 16,
                             .in = in,
                             .out = out};
  std::ranges::copy(keys_.words, arguments.round_keys);
  const std::uint64_t tiles = (arguments.blocks + tile_blocks_ - 1) / tile_blocks_;
  const std::uint64_t grid = shape_.grid_stride ? std::min<std::uint64_t>(tiles, shape_.cuda_blocks) : tiles;
  if (grid > 0x7fffffff) throw UsageError(fmt::format("{} CUDA blocks are too many for one grid", grid));
  void* parameters[] = {&arguments};
  check(cudaLaunchKernel(kernel_, static_cast<unsigned>(grid), shape_.threads, parameters, shared_bytes_,
                         stream));
}

}  // namespace gpuaes::cuda
