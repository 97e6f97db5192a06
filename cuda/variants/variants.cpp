#include "variants/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "base/error.hpp"
#include "cipher/kuznyechik/ls_table.hpp"
#include "variants/aes_lookup.hpp"
#include "variants/arguments.hpp"
#include "variants/inverse.hpp"

namespace gpuaes::cuda {
namespace {

constexpr unsigned side_by_side[] = {1, 2, 4, 8, 16};

Direction direction_of(Mode mode) {
  return mode == Mode::ecb_decrypt ? Direction::decrypt : Direction::encrypt;
}

const VariantTables& tables_of(Direction direction) {
  const auto make = [](Direction way) {
    VariantTables tables{kuznyechik::make_ls_tables(way), aes::make_lookup_tables(way), {}};
    std::ranges::copy(kuznyechik::pi, tables.substitution);
    return tables;
  };
  static const VariantTables encrypting = make(Direction::encrypt), decrypting = make(Direction::decrypt);
  return direction == Direction::encrypt ? encrypting : decrypting;
}

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

const void* choose_kernel(const Variant& variant, Mode mode, Cipher cipher, const LaunchShape& shape) {
  if (!variant.is_for(cipher))
    throw UsageError(fmt::format("{} is not a kernel for {}", variant.name, info(cipher).name));
  if (shape.threads < 32 || shape.threads > 1024 || !std::has_single_bit(shape.threads))
    throw UsageError(
        fmt::format("{} threads: a CUDA block has 32, 64, 128, 256, 512 or 1024", shape.threads));
  const void* const kernel = variant.kernel(mode, shape.blocks_per_thread);
  if (kernel == nullptr)
    throw UsageError(
        fmt::format("{} has no kernel for {} blocks a thread", variant.name, shape.blocks_per_thread));
  return kernel;
}

std::array<std::uint32_t, max_key_words> make_round_keys(const CipherKey& key, Direction direction) {
  std::array<std::uint32_t, max_key_words> words{};
  switch (info(key.cipher).family) {
    case Family::aes: {
      const aes::RoundKeys keys = aes::expand_key(key.bytes.bytes());
      std::ranges::copy(direction == Direction::encrypt ? keys.words : aes::make_decryption_keys(keys).words,
                        words.begin());
      return words;
    }
    case Family::kuznyechik: {
      const kuznyechik::RoundKeys keys = kuznyechik::expand_key(key.bytes.bytes());
      std::ranges::copy(direction == Direction::encrypt ? kuznyechik::make_key_words(keys)
                                                        : kuznyechik::make_decryption_key_words(keys),
                        words.begin());
      return words;
    }
  }
  refuse_cipher(key.cipher);
}

// Allows the kernel the shared memory it needs, and returns its resource use in that shape.
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
  const auto max_shared = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  if (use.shared_bytes > max_shared)
    throw LaneError(fmt::format("{} takes {} bytes of shared memory, and this device has {} for a CUDA block",
                                variant.name, use.shared_bytes, max_shared));
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
    append(ls_constant_variants);
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
  const auto end = std::ranges::find_if(
      side_by_side, [&](unsigned blocks) { return variant.kernel(Mode::ctr, blocks) == nullptr; });
  return {side_by_side, end};
}

VariantKernel::VariantKernel(const Variant& variant, Mode mode, const CipherKey& key,
                             const LaunchShape& shape)
    : name_(variant.name),
      mode_(mode),
      keys_(make_round_keys(key, direction_of(mode))),
      rounds_(static_cast<int>(key.bytes.bytes().size() / 4 + 6)),
      shape_(shape),
      tile_blocks_(shape.blocks_per_thread * shape.threads / variant.threads_per_block),
      kernel_(choose_kernel(variant, mode, key.cipher, shape)),
      shared_bytes_(variant.shared_bytes),
      use_(allow_shape(variant, kernel_, shape)) {
  if (shape_.cuda_blocks == 0)
    shape_.cuda_blocks = static_cast<unsigned>(use_.resident * attribute(cudaDevAttrMultiProcessorCount));
  const VariantTables& tables = tables_of(direction_of(mode));
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
  if (mode_ != Mode::ctr && size % 16 != 0)
    throw UsageError(fmt::format("{}: ECB works on whole blocks of 16 bytes, and not on {}", name_, size));
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
  const std::uint64_t grid = shape_.grid_stride ? std::min<std::uint64_t>(tiles, shape_.cuda_blocks) : tiles;
  if (grid > 0x7fffffff) throw UsageError(fmt::format("{} CUDA blocks are too many for one grid", grid));
  void* parameters[] = {&arguments};
  check(cudaLaunchKernel(kernel_, static_cast<unsigned>(grid), shape_.threads, parameters, shared_bytes_,
                         stream));
}

}  // namespace gpuaes::cuda
