#include "cipher/cpu_cipher.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/libcrypto.hpp"
#include "cipher/kuznyechik/cpu.hpp"
#include "cipher/modes/aead.hpp"
#include "cipher/modes/mgm_cpu.hpp"
#include "cipher/modes/segments.hpp"

namespace gpuaes {
namespace {

constexpr auto check = check_call<LaneError>;

class LibcryptoCtr : public CpuCipher {
 public:
  explicit LibcryptoCtr(const Job& job) : context_(EVP_CIPHER_CTX_new()) {
    check(context_ != nullptr, "EVP_CIPHER_CTX_new");
    const EvpCipher algorithm = fetch_cipher<LaneError>(info(job.key->cipher).ctr->libcrypto);
    check(EVP_EncryptInit_ex2(context_.get(), algorithm.get(), octets(job.key->bytes.bytes().data()), nullptr,
                              nullptr) == 1,
          "EVP_EncryptInit_ex2");
  }

  std::optional<std::size_t> run(const Job& job) override {
    check(EVP_EncryptInit_ex2(context_.get(), nullptr, nullptr, job.counter.data(), nullptr) == 1,
          "EVP_EncryptInit_ex2");
    for (std::size_t at = 0; at < job.in.size(); at += max_bytes_per_call) {
      const std::size_t size = std::min(job.in.size() - at, max_bytes_per_call);
      int written = 0;
      check(EVP_EncryptUpdate(context_.get(), octets(job.out.data() + at), &written,
                              octets(job.in.data() + at), static_cast<int>(size)) == 1,
            "EVP_EncryptUpdate");
    }
    return std::nullopt;
  }

 private:
  // EVP takes lengths as int. A multiple of the block size, since the keystream continues across calls.
  static constexpr std::size_t max_bytes_per_call = std::size_t{1} << 30;

  CipherContext context_;
};

class KuznyechikCtr : public CpuCipher {
 public:
  explicit KuznyechikCtr(const Job& job) : cipher_(job.key->bytes.bytes()) {}

  std::optional<std::size_t> run(const Job& job) override {
    cipher_.ctr(load_counter(job.counter), job.in, job.out);
    return std::nullopt;
  }

 private:
  KuznyechikCpu cipher_;
};

class LibcryptoAead : public CpuCipher {
 public:
  explicit LibcryptoAead(const Job& job)
      : aead_(job.key->cipher, job.key->bytes.bytes(),
              job.operation == Operation::seal ? EvpAead::Use::seal : EvpAead::Use::open) {}

  std::optional<std::size_t> run(const Job& job) override {
    if (job.operation == Operation::open)
      return open_segments(job, [&](const auto& segment) {
        return aead_.open(segment.nonce, job.aad, segment.ciphertext(), segment.tag(), segment.plain);
      });
    seal_segments(job, [&](const auto& segment) {
      aead_.seal(segment.nonce, job.aad, segment.plain, segment.ciphertext(), segment.tag());
    });
    return std::nullopt;
  }

 private:
  EvpAead aead_;
};

class KuznyechikMgm : public CpuCipher {
 public:
  explicit KuznyechikMgm(const Job& job) : mgm_(job.key->bytes.bytes()) {}

  std::optional<std::size_t> run(const Job& job) override {
    if (job.operation == Operation::open)
      return process_in_batches(job, segment_to_open,
                                [&](const auto& segments) { return mgm_.open(job.aad, segments); });
    return process_in_batches(job, segment_to_seal, [&](const auto& segments) {
      mgm_.seal(job.aad, segments);
      return std::nullopt;
    });
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

std::unique_ptr<CpuCipher> make_ctr(const Job& job) {
  const CipherInfo& row = info(job.key->cipher);
  if (!row.ctr) refuse_cipher(row.cipher);
  if (row.ctr->libcrypto != nullptr) return std::make_unique<LibcryptoCtr>(job);
  switch (row.family) {
    case Family::aes:
    case Family::chacha20:
      break;
    case Family::kuznyechik:
      return std::make_unique<KuznyechikCtr>(job);
  }
  refuse_cipher(row.cipher);
}

std::unique_ptr<CpuCipher> make_aead(const Job& job) {
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
  refuse_cipher(row.cipher);
}

}  // namespace

std::unique_ptr<CpuCipher> make_cpu_cipher(const Job& job) {
  return job.operation == Operation::ctr ? make_ctr(job) : make_aead(job);
}

bool open_as_last(const Job& job, std::size_t index, std::span<std::byte> plain) {
  Job last = job;
  last.in = segment_to_open(job, index).sealed;
  last.out = plain;
  last.first_segment += index;
  last.ends_message = true;
  return !make_cpu_cipher(last)->run(last);
}

}  // namespace gpuaes
