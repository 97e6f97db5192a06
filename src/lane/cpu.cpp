// CPU lanes. For AES, they use libcrypto's EVP interface, which selects AES-NI, VAES or other instructions of
// the CPU. For Kuznyechik, which libcrypto does not provide, they use our own code.
//
// A context has one key and one operation. Its key schedule is replaced when a job differs from the previous
// one in either, which happens within a run only from one part of a file to the next.

#include <algorithm>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "base/libcrypto.hpp"
#include "cipher/kuznyechik/cpu.hpp"
#include "cipher/modes/evp_gcm.hpp"
#include "cipher/modes/mgm_cpu.hpp"
#include "lane/backends.hpp"
#include "lane/segment_jobs.hpp"

namespace gpuaes {
namespace {

// EVP takes lengths as int. Must be a multiple of the block size, since the keystream continues across calls.
constexpr std::size_t max_bytes_per_call = std::size_t{1} << 30;

constexpr auto check = check_libcrypto<LaneError>;

const EVP_CIPHER* ctr_cipher(Cipher cipher) {
  switch (cipher) {
    case Cipher::aes_128:
      return EVP_aes_128_ctr();
    case Cipher::aes_192:
      return EVP_aes_192_ctr();
    case Cipher::aes_256:
      return EVP_aes_256_ctr();
    case Cipher::kuznyechik:
      break;
  }
  refuse_cipher(cipher);
}

class CpuLane : public Lane {
 public:
  CpuLane() : context_(EVP_CIPHER_CTX_new()) { check(context_ != nullptr, "EVP_CIPHER_CTX_new"); }

  std::string name() const override { return "cpu"; }

  void start(const Job& job) override {
    first_bad_.reset();
    set_key(job);
    switch (job.operation) {
      case Operation::ctr:
        return do_ctr(job);
      case Operation::seal:
        return seal(job);
      case Operation::open:
        first_bad_ = open(job);
    }
  }

  std::optional<std::size_t> finish() override { return first_bad_; }

 private:
  // libcrypto wipes the key schedule when it frees the context.
  void set_key(const Job& job) {
    if (key_ == job.key && message_ == job.message && operation_ == job.operation) return;
    key_ = nullptr;
    gcm_.reset();
    kuznyechik_.reset();
    mgm_.reset();
    job.operation == Operation::ctr ? set_ctr_key(*job.key) : set_aead_key(job);
    key_ = job.key;
    message_ = job.message;
    operation_ = job.operation;
  }

  void set_ctr_key(const CipherKey& key) {
    switch (info(key.cipher).family) {
      case Family::aes:
        return check(EVP_EncryptInit_ex2(context_.get(), ctr_cipher(key.cipher),
                                         octets(key.bytes.bytes().data()), nullptr, nullptr) == 1,
                     "EVP_EncryptInit_ex2");
      case Family::kuznyechik:
        kuznyechik_.emplace(key.bytes.bytes());
        return;
    }
    refuse_cipher(key.cipher);
  }

  void set_aead_key(const Job& job) {
    const std::span<const std::byte> key = job.key->bytes.bytes();
    check_nonce(job);
    switch (info(job.key->cipher).family) {
      case Family::aes:
        gcm_.emplace(job.key->cipher, key,
                     job.operation == Operation::seal ? EvpGcm::Use::seal : EvpGcm::Use::open);
        return;
      case Family::kuznyechik:
        mgm_.emplace(key);
        return;
    }
    refuse_cipher(job.key->cipher);
  }

  void do_ctr(const Job& job) {
    if (kuznyechik_) return kuznyechik_->ctr(load_counter(job.counter), job.in, job.out);
    check(EVP_EncryptInit_ex2(context_.get(), nullptr, nullptr, job.counter.data(), nullptr) == 1,
          "EVP_EncryptInit_ex2");
    for (std::size_t at = 0; at < job.in.size(); at += max_bytes_per_call) {
      const std::size_t size = std::min(job.in.size() - at, max_bytes_per_call);
      int written = 0;
      check(EVP_EncryptUpdate(context_.get(), octets(job.out.data() + at), &written,
                              octets(job.in.data() + at), static_cast<int>(size)) == 1,
            "EVP_EncryptUpdate");
    }
  }

  void seal(const Job& job) {
    if (mgm_) return seal_segments(job, *mgm_);
    seal_segments(job, [&](const auto& segment) {
      gcm_->seal(segment.nonce, job.aad, segment.plain, segment.ciphertext(), segment.tag());
    });
  }

  std::optional<std::size_t> open(const Job& job) {
    if (mgm_) return open_segments(job, *mgm_);
    return open_segments(job, [&](const auto& segment) {
      return gcm_->open(segment.nonce, job.aad, segment.ciphertext(), segment.tag(), segment.plain);
    });
  }

  CipherContext context_;  // for AES in counter mode
  std::optional<EvpGcm> gcm_;
  std::optional<KuznyechikCpu> kuznyechik_;
  std::optional<MgmCpu> mgm_;
  const CipherKey* key_ = nullptr;  // of the context for `operation_`
  std::uint64_t message_ = 0;       // with that key
  Operation operation_ = Operation::ctr;
  std::optional<std::size_t> first_bad_;
};

}  // namespace

std::unique_ptr<Lane> make_cpu_lane() {
  return std::make_unique<CpuLane>();
}

}  // namespace gpuaes
