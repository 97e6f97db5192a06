#include "bench/subjects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/text.hpp"
#include "bench/table_kernels.hpp"
#include "cipher/modes/segments.hpp"
#include "keys/kdf.hpp"
#include "runtime.hpp"

namespace gpuaes::cuda {
namespace {

void launch_ctr(auto* function, const auto& key, const Launch& launch) {
  const BenchData::Piece& piece = launch.piece;
  function(key, load_counter(bench_counter), piece.in, piece.out, piece.size, launch.stream);
}

void launch_aead(auto* seal, auto* open, auto job, const Launch& launch) {
  const BenchData::Piece& piece = launch.piece;
  job.base_nonce = bench_nonce(launch.key.key.cipher);
  job.first_segment = piece.at / info(launch.key.key.cipher).segments.plain_bytes;
  job.sealed_bytes = std::max(piece.in_bytes, piece.out_bytes);
  if (launch.mode == Operation::seal)
    seal(job, piece.in, piece.out, launch.stream);
  else
    open(job, piece.in, piece.out, piece.first_bad, launch.stream);
}

void launch_aes(const Launch& launch) {
  const DeviceKey& device = launch.key.on_device;
  const AesKey key = device.aes();
  if (launch.mode == Operation::ctr) return launch_ctr(launch_aes_ctr, key, launch);
  launch_aead(launch_gcm_seal, launch_gcm_open,
              GcmJob{.key = key, .powers = device.powers(), .masks = launch.piece.scratch}, launch);
}

void launch_kuznyechik(const Launch& launch) {
  const KuznyechikKey key = launch.key.on_device.kuznyechik();
  if (launch.mode == Operation::ctr) return launch_ctr(launch_kuznyechik_ctr, key, launch);
  launch_aead(launch_mgm_seal, launch_mgm_open, MgmJob{.key = key, .scratch = launch.piece.scratch}, launch);
}

void launch_aes_table(const Launch& launch) {
  launch_ctr(launch_aes_table_ctr, launch.key.on_device.aes(), launch);
}

void launch_kuznyechik_table(const Launch& launch) {
  launch_ctr(launch_kuznyechik_table_ctr, launch.key.on_device.kuznyechik(), launch);
}

void launch_chacha20(const Launch& launch) {
  launch_aead(launch_chacha20_seal, launch_chacha20_open,
              ChaCha20Job{.key = launch.key.on_device.chacha20(), .sums = launch.piece.sums}, launch);
}

constexpr std::array bitslice_kernels{
    FamilyKernel{Family::aes, [](Cipher) { return aes_ctr_facts(); }, [](Cipher) { return aes_gcm_facts(); },
                 aes_bitslice_cost, launch_aes},
    FamilyKernel{Family::kuznyechik, [](Cipher) { return kuznyechik_ctr_facts(); },
                 [](Cipher) { return kuznyechik_mgm_facts(); }, kuznyechik_bitslice_cost, launch_kuznyechik}};
constexpr std::array chacha20_kernels{FamilyKernel{
    Family::chacha20, nullptr, [](Cipher) { return chacha20_facts(); }, chacha20_cost, launch_chacha20}};
constexpr std::array ttable_kernels{
    FamilyKernel{Family::aes, aes_table_facts, nullptr, ttable_cost, launch_aes_table},
    FamilyKernel{Family::kuznyechik, [](Cipher) { return kuznyechik_table_facts(); }, nullptr,
                 interleaved_cost, launch_kuznyechik_table}};

std::vector<Subject> all_subjects() {
  std::vector<Subject> all{
      {"bitslice", bitslice_kernels}, {"chacha20", chacha20_kernels}, {"ttable", ttable_kernels}};
  for (const Variant& each : variants()) all.push_back({each.name, {}, &each});
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

}  // namespace

bool Subject::can(Cipher cipher, Operation mode) const {
  if (variant != nullptr) return mode == Operation::ctr && variant->is_for(cipher);
  const FamilyKernel* const kernel = kernel_for(cipher);
  return kernel != nullptr && kernel->facts(mode) != nullptr;
}

const FamilyKernel* Subject::kernel_for(Cipher cipher) const {
  const auto found = std::ranges::find(kernels, info(cipher).family, &FamilyKernel::family);
  return found != kernels.end() ? &*found : nullptr;
}

Operations Subject::cost(Cipher cipher, Operation mode) const {
  return variant != nullptr ? variant_cost(*variant, cipher) : kernel_for(cipher)->cost(cipher, mode);
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
                         unsigned blocks_per_thread)
    : subject_(subject), mode_(mode), key_(key), blocks_per_thread_(blocks_per_thread) {
  if (subject.chooses_shape()) {
    const KernelFacts facts = subject.kernel_for(key.key.cipher)->facts(mode)(key.key.cipher);
    threads_ = facts.max_threads;
    use_ = prepare_kernel(facts.function, threads_, facts.shared_bytes);
  } else {
    variant_ = std::make_unique<VariantKernel>(*subject.variant, key.key, blocks_per_thread);
    threads_ = variant_threads;
    use_ = variant_->use();
  }
}

std::string BenchKernel::name() const {
  std::string text = fmt::format("{}, {}, {}", subject_.name, info(key().cipher).name, name_of(mode_));
  if (blocks_per_thread_ > 0) text += fmt::format(", {} blocks a thread", blocks_per_thread_);
  return text;
}

void BenchKernel::launch(const BenchData::Piece& piece, const Stream& stream) const {
  if (variant_)
    variant_->launch(load_counter(bench_counter), piece.in, piece.out, piece.size, stream.get());
  else
    subject_.kernel_for(key_.key.cipher)->launch({mode_, key_, piece, stream.get()});
}

}  // namespace gpuaes::cuda
