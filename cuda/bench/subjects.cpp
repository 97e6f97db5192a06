#include "bench/subjects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cipher/modes/segments.hpp"
#include "keys/kdf.hpp"
#include "runtime.hpp"
#include "variants/table_kernels.hpp"

namespace gpuaes::cuda {
namespace {

constexpr std::string_view chacha20_name = "chacha20";

std::vector<Subject> all_subjects() {
  std::vector<Subject> all{{"bitslice", true}, {chacha20_name, true}, {"ttable", false}};
  for (const Variant& each : variants()) all.push_back({each.name, false, &each});
  return all;
}

bool can_any(const Subject& subject, const KernelRequest& request) {
  return std::ranges::any_of(request.ciphers, [&](Cipher cipher) {
    return std::ranges::any_of(request.modes, [&](Operation mode) { return subject.can(cipher, mode); });
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
    throw UsageError("a CUDA block must be a whole number of warps, at most " +
                     std::to_string(facts.max_threads) + " threads");
  if (shape.blocks_per_thread % facts.blocks_per_thread != 0)
    throw UsageError("the cipher blocks per thread must be a multiple of " +
                     std::to_string(facts.blocks_per_thread));
}

}  // namespace

bool Subject::can(Cipher cipher, Operation mode) const {
  const bool is_ctr = mode == Operation::ctr;
  if (variant != nullptr) return is_ctr && variant->is_for(cipher);
  if (info(cipher).family == Family::chacha20) return !is_ctr && name == chacha20_name;
  return name != chacha20_name && (is_ctr || in_filter);
}

KernelFacts Subject::facts(Cipher cipher, Operation mode) const {
  if (!in_filter) return table_kernel_facts(cipher);
  switch (info(cipher).family) {
    case Family::aes:
      return mode == Operation::ctr ? aes_ctr_facts() : aes_gcm_facts();
    case Family::kuznyechik:
      return mode == Operation::ctr ? kuznyechik_ctr_facts() : kuznyechik_mgm_facts();
    case Family::chacha20:
      return chacha20_facts();
  }
  refuse_cipher(cipher);
}

std::vector<unsigned> Subject::blocks_per_thread() const {
  if (chooses_shape()) return {0};
  std::vector<unsigned> counts;
  for (const auto& [blocks, kernel] : variant->kernels) counts.push_back(blocks);
  return counts;
}

std::vector<Subject> choose_subjects(const KernelRequest& request) {
  const std::vector<Subject> all = all_subjects();
  std::vector<std::string_view> known;
  for (const Subject& each : all) known.push_back(each.name);
  for (const std::string& pattern : request.variants)
    if (std::ranges::none_of(known, [&](std::string_view name) { return names(pattern, name); }))
      throw UsageError(fmt::format("no kernel variant is named '{}'", pattern),
                       fmt::format("there are {}", join(known)));
  std::vector<Subject> chosen;
  for (const Subject& subject : all)
    if (std::ranges::any_of(request.variants,
                            [&](const std::string& pattern) { return names(pattern, subject.name); }) &&
        can_any(subject, request))
      chosen.push_back(subject);
  if (chosen.empty())
    throw UsageError(
        "none of these variants has one of these ciphers in one of these modes",
        "bitslice has ctr and aead of AES and Kuznyechik, chacha20 has aead of its cipher, ttable "
        "has ctr, and the others have ctr of AES or of Kuznyechik");
  return chosen;
}

BenchKey::BenchKey(Cipher cipher) : BenchKey(CipherKey{cipher, random_secret(info(cipher).key_bytes)}) {}

BenchKernel::BenchKernel(const Subject& subject, Operation mode, const BenchKey& key,
                         const KernelShape& shape)
    : subject_(subject), mode_(mode), key_(key), shape_(shape) {
  if (subject.chooses_shape()) {
    const KernelFacts facts = subject.facts(key.key.cipher, mode);
    check_shape(facts, shape);
    threads_ = shape.threads > 0 ? shape.threads : facts.max_threads;
    use_ = prepare_kernel(facts.function, threads_, facts.shared_bytes(threads_));
  } else {
    variant_ = std::make_unique<VariantKernel>(*subject.variant, key.key, shape);
    threads_ = variant_->threads();
    use_ = variant_->use();
  }
}

std::string BenchKernel::name() const {
  std::string text = fmt::format("{}, {}, {}", subject_.name, info(key().cipher).name, name_of(mode_));
  if (shape_.threads > 0) text += fmt::format(", {} threads", shape_.threads);
  if (shape_.blocks_per_thread > 0) text += fmt::format(", {} blocks a thread", shape_.blocks_per_thread);
  return text;
}

void BenchKernel::launch(const BenchData::Piece& piece, const Stream& stream) const {
  const Counter counter = load_counter(bench_counter);
  const DeviceKey& key = key_.on_device;
  if (variant_) return variant_->launch(counter, piece.in, piece.out, piece.size, stream.get());
  const auto launch_ctr = [&](auto* function, const auto& expanded) {
    function(expanded, counter, piece.in, piece.out, piece.size, stream.get());
  };
  const auto launch_aead = [&](auto* seal, auto* open, auto job) {
    job.base_nonce = bench_nonce(key_.key.cipher);
    job.first_segment = piece.at / rules().plain_bytes;
    job.sealed_bytes = std::max(piece.in_bytes, piece.out_bytes);
    if (mode_ == Operation::seal)
      seal(job, piece.in, piece.out, stream.get());
    else
      open(job, piece.in, piece.out, piece.first_bad, stream.get());
  };
  switch (info(key_.key.cipher).family) {
    case Family::aes:
      if (mode_ == Operation::ctr)
        return launch_ctr(subject_.in_filter ? launch_aes_ctr : launch_aes_table_ctr, key.aes(shape_));
      return launch_aead(launch_gcm_seal, launch_gcm_open,
                         GcmJob{.key = key.aes(shape_), .powers = key.powers(), .masks = piece.scratch});
    case Family::kuznyechik:
      if (mode_ == Operation::ctr)
        return launch_ctr(subject_.in_filter ? launch_kuznyechik_ctr : launch_kuznyechik_table_ctr,
                          key.kuznyechik(shape_));
      return launch_aead(launch_mgm_seal, launch_mgm_open,
                         MgmJob{.key = key.kuznyechik(shape_), .scratch = piece.scratch});
    case Family::chacha20:
      return launch_aead(launch_chacha20_seal, launch_chacha20_open,
                         ChaCha20Job{.key = key.chacha20(), .sums = piece.sums});
  }
  refuse_cipher(key_.key.cipher);
}

}  // namespace gpuaes::cuda
