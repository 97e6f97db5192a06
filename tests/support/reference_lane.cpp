#include "support/reference_lane.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/segments.hpp"
#include "support/aes_reference.hpp"
#include "support/reference_aeads.hpp"

namespace gpuaes {
namespace {

// `encrypt` returns the block of keystream for a counter.
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
  switch (info(job.key->cipher).family) {
    case Family::aes:
      return do_ctr(job, [keys = aes::expand_key(key)](CounterBlock block) {
        aes::encrypt_block(keys, block.data(), block.data());
        return block;
      });
    case Family::kuznyechik:
      return do_ctr(job, [keys = kuznyechik::expand_key(key)](const CounterBlock& block) {
        return kuznyechik::encrypt(keys, block);
      });
    case Family::chacha20:
      break;
  }
  refuse_cipher(job.key->cipher);
}

// Calls `act` with an AEAD for the job's key, and with a function that returns the AEAD's initial value for
// the nonce of a segment.
template <class Act>
auto with_aead(const Job& job, Act act) {
  const std::span<const std::byte> key = job.key->bytes.bytes();
  check_nonce(job);
  switch (info(job.key->cipher).family) {
    case Family::aes:
      return act(Gcm(key), [](const Nonce& nonce) { return first_counter(nonce); });
    case Family::kuznyechik:
      return act(mgm::Mgm(key), [](const Nonce& nonce) { return nonce; });
    case Family::chacha20:
      return act(ChaCha20Poly1305(key), [](const Nonce& nonce) { return nonce; });
  }
  refuse_cipher(job.key->cipher);
}

void do_seal(const Job& job) {
  with_aead(job, [&](const auto& aead, auto start) {
    seal_segments(job, [&](const auto& segment) {
      aead.seal(start(segment.nonce), job.aad, segment.plain, segment.ciphertext(), segment.tag());
    });
  });
}

std::optional<std::size_t> do_open(const Job& job) {
  return with_aead(job, [&](const auto& aead, auto start) {
    return open_segments(job, [&](const auto& segment) {
      return aead.open(start(segment.nonce), job.aad, segment.ciphertext(), segment.tag(), segment.plain);
    });
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
