#include "cipher/modes/aead.hpp"

#include <array>
#include <span>

#include "cipher/modes/evp_aead.hpp"
#include "cipher/modes/mgm_cpu.hpp"
#include "cipher/modes/segments.hpp"

namespace gpuaes {
namespace {

class LibcryptoAead : public Aead {
 public:
  explicit LibcryptoAead(const Job& job)
      : aead_(job.key->cipher, job.key->bytes.bytes(),
              job.operation == Operation::seal ? EvpAead::Use::seal : EvpAead::Use::open) {}

  void seal(const Job& job) override {
    seal_segments(job, [&](const auto& segment) {
      aead_.seal(segment.nonce, job.aad, segment.plain, segment.ciphertext(), segment.tag());
    });
  }

  std::optional<std::size_t> open(const Job& job) override {
    return open_segments(job, [&](const auto& segment) {
      return aead_.open(segment.nonce, job.aad, segment.ciphertext(), segment.tag(), segment.plain);
    });
  }

 private:
  EvpAead aead_;
};

class KuznyechikMgm : public Aead {
 public:
  explicit KuznyechikMgm(const Job& job) : mgm_(job.key->bytes.bytes()) {}

  void seal(const Job& job) override {
    process_in_batches(job, segment_to_seal, [&](const auto& segments) {
      mgm_.seal(job.aad, segments);
      return std::nullopt;
    });
  }

  std::optional<std::size_t> open(const Job& job) override {
    return process_in_batches(job, segment_to_open,
                              [&](const auto& segments) { return mgm_.open(job.aad, segments); });
  }

 private:
  // Calls `process` for batches of segments made by `prepare`, as many as MgmCpu takes at a time, until it
  // returns the index of a bad segment in its batch. Returns the index of that segment in the job, if any.
  template <class Prepare, class Process>
  static std::optional<std::size_t> process_in_batches(const Job& job, Prepare prepare, Process process) {
    using Each = decltype(prepare(job, 0));
    std::array<Each, MgmCpu::max_segments> segments;
    const std::size_t count = count_segments(job);
    for (std::size_t first = 0; first < count; first += segments.size()) {
      const std::size_t batch = std::min(count - first, segments.size());
      for (std::size_t i = 0; i < batch; ++i) segments[i] = prepare(job, first + i);
      const std::optional<std::size_t> bad = process(std::span<const Each>(segments).first(batch));
      if (bad) return first + *bad;
    }
    return std::nullopt;
  }

  MgmCpu mgm_;
};

}  // namespace

std::unique_ptr<Aead> make_aead(const Job& job) {
  check_nonce(job);
  const CipherInfo& row = info(job.key->cipher);
  if (row.aead.libcrypto != nullptr) return std::make_unique<LibcryptoAead>(job);
  switch (row.family) {
    case Family::aes:
    case Family::chacha20:
      break;
    case Family::kuznyechik:
      return std::make_unique<KuznyechikMgm>(job);
  }
  refuse_cipher(job.key->cipher);
}

bool open_as_last(const Job& job, std::size_t index, std::span<std::byte> plain) {
  Job last = job;
  last.in = segment_to_open(job, index).sealed;
  last.out = plain;
  last.first_segment += index;
  last.ends_message = true;
  return !make_aead(last)->open(last);
}

}  // namespace gpuaes
