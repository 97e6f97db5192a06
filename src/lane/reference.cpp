// The oracle: AES as FIPS 197 and GCM as SP 800-38D, Kuznyechik as RFC 7801 and MGM as RFC 9058 write it, a
// block at a time.

#include "cipher/aes/aes.hpp"
#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/gcm.hpp"
#include "cipher/modes/mgm.hpp"
#include "lane/backends.hpp"
#include "lane/segment_jobs.hpp"

namespace gpuaes {
namespace {

// `encrypt` makes a block of keystream of a counter.
template <class Encrypt>
void do_ctr(const Job& job, Encrypt encrypt) {
  const Counter first = load_counter(job.counter);
  for (std::size_t at = 0; at < job.in.size(); at += sizeof(CounterBlock)) {
    const CounterBlock keystream = encrypt(store_counter(first + at / sizeof(CounterBlock)));
    for (std::size_t i = at; i < job.in.size() && i < at + keystream.size(); ++i)
      job.out[i] = job.in[i] ^ std::byte{keystream[i - at]};
  }
}

void do_ctr(const Job& job) {
  const std::span<const std::byte> key = job.key->bytes.bytes();
  if (job.key->cipher == Cipher::kuznyechik) {
    kuznyechik::RoundKeys keys = kuznyechik::expand_key(key);
    do_ctr(job, [&](const CounterBlock& counter) { return kuznyechik::encrypt(keys, counter); });
    wipe(std::as_writable_bytes(std::span(keys.of)));
  } else {
    aes::RoundKeys keys = aes::expand_key(key);
    do_ctr(job, [&](CounterBlock block) {
      aes::encrypt_block(keys, block.data(), block.data());
      return block;
    });
    wipe(std::as_writable_bytes(std::span(keys.words)));
  }
}

void do_seal(const Job& job) {
  if (job.key->cipher == Cipher::kuznyechik) {
    const mgm::Mgm mgm(job.key->bytes.bytes());
    return seal_segments(job, [&](const auto& segment) {
      mgm.seal(segment.mgm_nonce, job.aad, segment.plain, segment.ciphertext(), segment.tag());
    });
  }
  const Gcm gcm(job.key->bytes.bytes());
  seal_segments(job, [&](const auto& segment) {
    gcm.seal(first_counter(segment.nonce), job.aad, segment.plain, segment.ciphertext(), segment.tag());
  });
}

std::optional<std::size_t> do_open(const Job& job) {
  if (job.key->cipher == Cipher::kuznyechik) {
    const mgm::Mgm mgm(job.key->bytes.bytes());
    return open_segments(job, [&](const auto& segment) {
      return mgm.open(segment.mgm_nonce, job.aad, segment.ciphertext(), segment.tag(), segment.plain);
    });
  }
  const Gcm gcm(job.key->bytes.bytes());
  return open_segments(job, [&](const auto& segment) {
    return gcm.open(first_counter(segment.nonce), job.aad, segment.ciphertext(), segment.tag(),
                    segment.plain);
  });
}

class ReferenceLane : public Lane {
 public:
  std::string name() const override { return "reference"; }

  void start(const Job& job) override {
    first_bad_.reset();
    switch (job.operation) {
      case Operation::ctr:
        return do_ctr(job);
      case Operation::seal:
        return do_seal(job);
      case Operation::open:
        first_bad_ = do_open(job);
    }
  }

  std::optional<std::size_t> finish() override { return first_bad_; }

 private:
  std::optional<std::size_t> first_bad_;
};

}  // namespace

std::unique_ptr<Lane> make_reference_lane() {
  return std::make_unique<ReferenceLane>();
}

}  // namespace gpuaes
