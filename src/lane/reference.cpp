// The oracle: AES as FIPS 197 and GCM as SP 800-38D write it, a block at a time.

#include "cipher/aes.hpp"
#include "cipher/gcm.hpp"
#include "lane/gcm_job.hpp"
#include "lane/lanes.hpp"

namespace gpuaes {
namespace {

void do_ctr(const Job& job) {
  aes::RoundKeys keys = aes::expand_key(job.key->bytes.bytes());
  const Counter first = load_counter(job.counter);
  for (std::size_t at = 0; at < job.in.size(); at += sizeof(CounterBlock)) {
    const CounterBlock counter = store_counter(first + at / sizeof(CounterBlock));
    CounterBlock keystream;
    aes::encrypt_block(keys, counter.data(), keystream.data());
    for (std::size_t i = at; i < job.in.size() && i < at + keystream.size(); ++i)
      job.out[i] = job.in[i] ^ std::byte{keystream[i - at]};
  }
  wipe(std::as_writable_bytes(std::span(keys.words)));
}

void do_seal(const Job& job) {
  const Gcm gcm(job.key->bytes.bytes());
  seal_segments(job, [&](const auto& segment) {
    gcm.seal(first_counter(segment.nonce), job.aad, segment.plain, segment.ciphertext(), segment.tag());
  });
}

std::optional<std::size_t> do_open(const Job& job) {
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
