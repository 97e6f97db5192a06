// CPU lanes: libcrypto's EVP interface, which picks AES-NI, VAES or what else the CPU has.

#include <openssl/err.h>
#include <openssl/evp.h>

#include <algorithm>
#include <memory>
#include <string>

#include "error.hpp"
#include "lane/lanes.hpp"

namespace gpuaes {
namespace {

// EVP takes its lengths as int. Whole blocks, so that the keystream goes on across calls.
constexpr std::size_t most_bytes_a_call = std::size_t{1} << 30;

void check(int result, const char* call) {
  if (result == 1) return;
  const char* reason = ERR_reason_error_string(ERR_get_error());
  throw LaneError(std::string("libcrypto: ") + call + ": " + (reason != nullptr ? reason : "failed"));
}

const EVP_CIPHER* ctr_cipher(Cipher cipher) {
  switch (cipher) {
    case Cipher::aes_128:
      return EVP_aes_128_ctr();
    case Cipher::aes_192:
      return EVP_aes_192_ctr();
    case Cipher::aes_256:
      return EVP_aes_256_ctr();
  }
  throw LaneError("libcrypto: no such cipher");
}

class CpuLane : public Lane {
 public:
  CpuLane() : context_(EVP_CIPHER_CTX_new()) { check(context_ ? 1 : 0, "EVP_CIPHER_CTX_new"); }

  std::string name() const override { return "cpu"; }

  void start(const Job& job) override {
    set_key(*job.key);
    check(EVP_EncryptInit_ex2(context_.get(), nullptr, nullptr, job.counter.data(), nullptr),
          "EVP_EncryptInit_ex2");
    for (std::size_t at = 0; at < job.in.size(); at += most_bytes_a_call) {
      const std::size_t size = std::min(job.in.size() - at, most_bytes_a_call);
      int written = 0;
      check(EVP_EncryptUpdate(context_.get(), reinterpret_cast<unsigned char*>(job.out.data() + at), &written,
                              reinterpret_cast<const unsigned char*>(job.in.data() + at),
                              static_cast<int>(size)),
            "EVP_EncryptUpdate");
    }
  }

  void finish() override {}

 private:
  // The key schedule is made once for each key, and wiped by libcrypto with the context.
  void set_key(const CipherKey& key) {
    if (key_ == &key) return;
    check(EVP_EncryptInit_ex2(context_.get(), ctr_cipher(key.cipher),
                              reinterpret_cast<const unsigned char*>(key.bytes.bytes().data()), nullptr,
                              nullptr),
          "EVP_EncryptInit_ex2");
    key_ = &key;
  }

  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };
  std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
  const CipherKey* key_ = nullptr;
};

}  // namespace

std::unique_ptr<Lane> make_cpu_lane() {
  return std::make_unique<CpuLane>();
}

}  // namespace gpuaes
