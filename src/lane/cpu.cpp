// CPU lanes. They use libcrypto's EVP interface, which selects AES-NI, VAES or other instructions of the CPU,
// and our own code for Kuznyechik, which libcrypto does not provide.
//
// A context has one key and one operation. It is replaced when a job differs from the previous one in either,
// which happens within a run only from one part of a file to the next.

#include <algorithm>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "base/libcrypto.hpp"
#include "cipher/kuznyechik/cpu.hpp"
#include "cipher/modes/aead.hpp"
#include "lane/backends.hpp"

namespace gpuaes {
namespace {

// EVP takes lengths as int. Must be a multiple of the block size, since the keystream continues across calls.
constexpr std::size_t max_bytes_per_call = std::size_t{1} << 30;

constexpr auto check = check_call<LaneError>;

class CpuLane : public Lane {
 public:
  std::string name() const override { return "cpu"; }

  void start(const Job& job) override {
    first_bad_.reset();
    set_key(job);
    switch (job.operation) {
      case Operation::ctr:
        return do_ctr(job);
      case Operation::seal:
        return aead_->seal(job);
      case Operation::open:
        first_bad_ = aead_->open(job);
    }
  }

  std::optional<std::size_t> finish() override { return first_bad_; }

 private:
  void set_key(const Job& job) {
    if (key_ == job.key->id && operation_ == job.operation) return;
    key_ = 0;
    aead_.reset();
    kuznyechik_.reset();
    if (job.operation == Operation::ctr)
      set_ctr_key(*job.key);
    else
      aead_ = make_aead(job);
    key_ = job.key->id;
    operation_ = job.operation;
  }

  void set_ctr_key(const CipherKey& key) {
    const CipherInfo& row = info(key.cipher);
    if (!row.ctr) refuse_cipher(key.cipher);
    if (row.ctr->libcrypto != nullptr) {
      context_.reset(EVP_CIPHER_CTX_new());
      check(context_ != nullptr, "EVP_CIPHER_CTX_new");
      const EvpCipher algorithm = fetch_cipher<LaneError>(row.ctr->libcrypto);
      return check(EVP_EncryptInit_ex2(context_.get(), algorithm.get(), octets(key.bytes.bytes().data()),
                                       nullptr, nullptr) == 1,
                   "EVP_EncryptInit_ex2");
    }
    switch (row.family) {
      case Family::aes:
      case Family::chacha20:
        break;
      case Family::kuznyechik:
        kuznyechik_.emplace(key.bytes.bytes());
        return;
    }
    refuse_cipher(key.cipher);
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

  CipherContext context_;  // for counter mode, unless libcrypto does not have the cipher
  std::optional<KuznyechikCpu> kuznyechik_;
  std::unique_ptr<Aead> aead_;
  std::uint64_t key_ = 0;  // its id; 0 for none
  Operation operation_ = Operation::ctr;
  std::optional<std::size_t> first_bad_;
};

}  // namespace

std::unique_ptr<Lane> make_cpu_lane() {
  return std::make_unique<CpuLane>();
}

}  // namespace gpuaes
