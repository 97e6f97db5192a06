#include "launch_bench.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cipher/aes.hpp"
#include "cipher/gcm.hpp"
#include "cipher/kdf.hpp"
#include "cipher/segments.hpp"
#include "error.hpp"
#include "kernel_use.hpp"

namespace gpuaes::cuda {
namespace {

Mode variant_mode(KernelMode mode) {
  if (mode == KernelMode::ecb_encrypt) return Mode::ecb_encrypt;
  return mode == KernelMode::ecb_decrypt ? Mode::ecb_decrypt : Mode::ctr;
}

std::vector<Subject> all_subjects() {
  std::vector<Subject> all;
  for (const CudaKernelInfo& each : cuda_kernels) all.push_back({each.name, each.kernel, nullptr});
  for (const Variant& each : variants()) all.push_back({each.name, {}, &each});
  return all;
}

bool names(const std::string& pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1))
                                : name == pattern;
}

}  // namespace

std::vector<unsigned> Subject::blocks_per_thread() const {
  if (lane_kernel) return {0};
  const auto counts = cuda::blocks_per_thread(*variant);
  return {counts.begin(), counts.end()};
}

KernelCost Subject::cost(KernelMode mode, int rounds) const {
  return lane_kernel ? cost_of(*lane_kernel, is_gcm(mode), rounds)
                     : cost_of(*variant, variant_mode(mode), rounds);
}

std::vector<Subject> choose_subjects(const KernelRequest& request) {
  const std::vector<Subject> all = all_subjects();
  const auto named_by = [](const std::string& pattern) {
    return [&](const Subject& subject) { return names(pattern, subject.name); };
  };
  for (const std::string& pattern : request.variants) {
    if (std::ranges::any_of(all, named_by(pattern))) continue;
    std::vector<std::string_view> there;
    for (const Subject& subject : all) there.push_back(subject.name);
    throw UsageError(fmt::format("no kernel variant is named '{}'", pattern),
                     fmt::format("there are {}", fmt::join(there, ", ")));
  }
  std::vector<Subject> chosen;
  for (const Subject& subject : all) {
    const bool is_named = std::ranges::any_of(
        request.variants, [&](const std::string& pattern) { return names(pattern, subject.name); });
    if (is_named && std::ranges::any_of(request.modes, [&](KernelMode mode) { return subject.can(mode); }))
      chosen.push_back(subject);
  }
  if (chosen.empty())
    throw UsageError("none of these variants has one of these modes",
                     "those of the filter have ctr and gcm, the others ctr and ecb");
  return chosen;
}

BenchKey::BenchKey(CipherKey bytes) : key(std::move(bytes)), expanded(aes::expand_key(key.bytes.bytes())) {
  ghash::Powers host_powers;
  ghash::make_powers(hash_key(expanded), host_powers);
  check(cudaMemcpy(round_keys.data(), expanded.words.data(), sizeof expanded.words, cudaMemcpyHostToDevice));
  check(cudaMemcpy(powers.data(), &host_powers, sizeof host_powers, cudaMemcpyHostToDevice));
  // A copy from pageable memory may return before it has arrived, and not all streams would wait for it.
  check(cudaDeviceSynchronize());
}

BenchKey random_key(Cipher cipher) {
  CipherKey key{cipher, Secret(info(cipher).key_bytes)};
  fill_random(key.bytes.bytes());
  return BenchKey(std::move(key));
}

BenchKernel::BenchKernel(const Subject& subject, KernelMode mode, const BenchKey& key,
                         const KernelShape& shape, bool grid_stride)
    : mode_(mode), key_(key), shape_(shape) {
  if (subject.lane_kernel) {
    lane_kernel_ = *subject.lane_kernel;
    const LaneKernelUse use = lane_kernel_use(lane_kernel_, is_gcm(mode), key.expanded.rounds, shape);
    use_ = use.use;
    threads_ = use.threads;
  } else {
    LaunchShape launched{.grid_stride = grid_stride};
    if (shape.threads > 0) launched.threads = shape.threads;
    if (shape.blocks_per_thread > 0) launched.blocks_per_thread = shape.blocks_per_thread;
    variant_ = std::make_unique<VariantKernel>(*subject.variant, variant_mode(mode), key.expanded, launched);
    use_ = variant_->use();
    threads_ = launched.threads;
  }
}

void BenchKernel::launch(const BenchData::Piece& piece, const Stream& stream) const {
  const Ends ends = ends_of(mode_, piece);
  if (variant_)
    variant_->launch(load_counter(bench_counter), ends.in, ends.out, piece.size, stream.get());
  else
    launch_lane_kernel(piece, stream.get());
}

void BenchKernel::launch_lane_kernel(const BenchData::Piece& piece, cudaStream_t stream) const {
  const AesKey aes{reinterpret_cast<const std::uint32_t*>(key_.round_keys.data()), key_.expanded.rounds,
                   lane_kernel_, shape_};
  if (mode_ == KernelMode::ctr)
    return launch_aes_ctr(aes, load_counter(bench_counter), piece.plain, piece.sealed, piece.size, stream);
  const GcmJob job{.key = aes,
                   .powers = reinterpret_cast<const ghash::Powers*>(key_.powers.data()),
                   .base_nonce = bench_nonce,
                   .first_segment = piece.at / segment_bytes,
                   .aad = {},
                   .sealed_bytes = sealed_size(piece.size),
                   .masks = piece.masks};
  if (mode_ == KernelMode::gcm_seal)
    launch_gcm_seal(job, piece.plain, piece.sealed, stream);
  else
    launch_gcm_open(job, piece.sealed, piece.opened, piece.first_bad, stream);
}

std::size_t launches_of(std::size_t size) {
  constexpr std::size_t bytes_of_run = std::size_t{256} << 20, most = 1000;
  return std::clamp<std::size_t>(bytes_of_run / size, 1, most);
}

}  // namespace gpuaes::cuda
