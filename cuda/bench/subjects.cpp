#include "bench/subjects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "cipher/modes/segments.hpp"
#include "keys/kdf.hpp"
#include "runtime.hpp"
#include "variants/table_kernels.hpp"

namespace gpuaes::cuda {
namespace {

Mode variant_mode(KernelMode mode) {
  if (mode == KernelMode::ecb_encrypt) return Mode::ecb_encrypt;
  return mode == KernelMode::ecb_decrypt ? Mode::ecb_decrypt : Mode::ctr;
}

std::vector<Subject> all_subjects() {
  std::vector<Subject> all{{"bitslice", true}, {"ttable", false}};
  for (const Variant& each : variants()) all.push_back({each.name, false, &each});
  return all;
}

bool can_any(const Subject& subject, const KernelRequest& request) {
  return std::ranges::any_of(request.ciphers, [&](Cipher cipher) {
    return std::ranges::any_of(request.modes, [&](KernelMode mode) { return subject.can(cipher, mode); });
  });
}

bool names(const std::string& pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1))
                                : name == pattern;
}

// UsageError if a launch would round the shape to another one.
void check_shape(const KernelFacts& facts, const KernelShape& shape) {
  const auto warp = static_cast<unsigned>(attribute(cudaDevAttrWarpSize));
  if (shape.threads > facts.max_threads || shape.threads % warp != 0)
    throw UsageError("its CUDA blocks have whole warps, of " + std::to_string(facts.max_threads) +
                     " threads at most");
  if (shape.blocks_per_thread % facts.blocks_per_thread != 0)
    throw UsageError("its tiles have " + std::to_string(facts.blocks_per_thread) + " blocks a thread");
}

KernelUse use_of(const KernelFacts& facts, unsigned threads) {
  const unsigned shared_bytes = facts.shared_bytes(threads);
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, facts.function));
  allow_shared_memory(facts.function);
  int resident;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, facts.function, static_cast<int>(threads),
                                                      shared_bytes));
  return {.registers = attributes.numRegs,
          .local_bytes = attributes.localSizeBytes,
          .shared_bytes = attributes.sharedSizeBytes + shared_bytes,
          .resident = resident};
}

}  // namespace

bool Subject::can(Cipher cipher, KernelMode mode) const {
  if (variant != nullptr) return variant->is_for(cipher) && !is_aead(mode);
  return mode == KernelMode::ctr || (in_filter && is_aead(mode));
}

KernelFacts Subject::facts(Cipher cipher, KernelMode mode) const {
  if (!in_filter) return table_kernel_facts(cipher);
  switch (info(cipher).family) {
    case Family::aes:
      return is_aead(mode) ? aes_gcm_facts() : aes_ctr_facts();
    case Family::kuznyechik:
      return is_aead(mode) ? kuznyechik_mgm_facts() : kuznyechik_ctr_facts();
  }
  refuse_cipher(cipher);
}

std::vector<unsigned> Subject::blocks_per_thread() const {
  if (chooses_shape()) return {0};
  const auto counts = cuda::blocks_per_thread(*variant);
  return {counts.begin(), counts.end()};
}

KernelCost Subject::cost(Cipher cipher, KernelMode mode) const {
  if (variant != nullptr) return variant_cost(*variant, cipher, variant_mode(mode));
  return in_filter ? filter_kernel_cost(cipher, is_aead(mode)) : table_kernel_cost(cipher);
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
    if (is_named && can_any(subject, request)) chosen.push_back(subject);
  }
  if (chosen.empty())
    throw UsageError("none of these variants has one of these ciphers in one of these modes",
                     "bitslice has ctr and aead, ttable has ctr, and the others have ctr and ecb of AES or "
                     "of Kuznyechik");
  return chosen;
}

BenchKey::BenchKey(CipherKey bytes) : key(std::move(bytes)) {
  on_device.set(key, Stream());
}

BenchKey random_key(Cipher cipher) {
  CipherKey key{cipher, Secret(info(cipher).key_bytes)};
  fill_random(key.bytes.bytes());
  return BenchKey(std::move(key));
}

BenchKernel::BenchKernel(const Subject& subject, KernelMode mode, const BenchKey& key,
                         const KernelShape& shape, bool grid_stride)
    : subject_(subject), mode_(mode), key_(key), shape_(shape) {
  if (subject.chooses_shape()) {
    const KernelFacts facts = subject.facts(key.key.cipher, mode);
    check_shape(facts, shape);
    threads_ = shape.threads > 0 ? shape.threads : facts.max_threads;
    use_ = use_of(facts, threads_);
  } else {
    LaunchShape launched{.grid_stride = grid_stride};
    if (shape.threads > 0) launched.threads = shape.threads;
    if (shape.blocks_per_thread > 0) launched.blocks_per_thread = shape.blocks_per_thread;
    variant_ = std::make_unique<VariantKernel>(*subject.variant, variant_mode(mode), key.key, launched);
    use_ = variant_->use();
    threads_ = launched.threads;
  }
}

void BenchKernel::launch(const BenchData::Piece& piece, const Stream& stream) const {
  const Counter counter = load_counter(bench_counter);
  const InOut in_out = in_out_of(mode_, piece);
  if (variant_) return variant_->launch(counter, in_out.in, in_out.out, piece.size, stream.get());
  const auto launch_ctr = [&](auto* function, const auto& key) {
    function(key, counter, in_out.in, in_out.out, piece.size, stream.get());
  };
  switch (info(key_.key.cipher).family) {
    case Family::aes:
      if (is_aead(mode_)) return launch_gcm(piece, stream.get());
      return launch_ctr(subject_.in_filter ? launch_aes_ctr : launch_aes_table_ctr,
                        key_.on_device.aes(shape_));
    case Family::kuznyechik:
      if (is_aead(mode_)) return launch_mgm(piece, stream.get());
      return launch_ctr(subject_.in_filter ? launch_kuznyechik_ctr : launch_kuznyechik_table_ctr,
                        key_.on_device.kuznyechik(shape_));
  }
  refuse_cipher(key_.key.cipher);
}

void BenchKernel::launch_gcm(const BenchData::Piece& piece, cudaStream_t stream) const {
  const GcmJob job{.key = key_.on_device.aes(shape_),
                   .powers = key_.on_device.powers(),
                   .base_nonce = bench_nonce(key_.key.cipher),
                   .first_segment = piece.at / segment_bytes,
                   .aad = {},
                   .sealed_bytes = sealed_size(piece.size),
                   .masks = piece.scratch};
  if (mode_ == KernelMode::seal)
    launch_gcm_seal(job, piece.plain, piece.sealed, stream);
  else
    launch_gcm_open(job, piece.sealed, piece.opened, piece.first_bad, stream);
}

void BenchKernel::launch_mgm(const BenchData::Piece& piece, cudaStream_t stream) const {
  const MgmJob job{.key = key_.on_device.kuznyechik(shape_),
                   .base_nonce = bench_nonce(key_.key.cipher),
                   .first_segment = piece.at / segment_bytes,
                   .aad = {},
                   .sealed_bytes = sealed_size(piece.size),
                   .scratch = piece.scratch};
  if (mode_ == KernelMode::seal)
    launch_mgm_seal(job, piece.plain, piece.sealed, stream);
  else
    launch_mgm_open(job, piece.sealed, piece.opened, piece.first_bad, stream);
}

std::size_t launches_of(std::size_t size) {
  constexpr std::size_t bytes_of_run = std::size_t{256} << 20, max_launches = 1000;
  return std::clamp<std::size_t>(bytes_of_run / size, 1, max_launches);
}

}  // namespace gpuaes::cuda
