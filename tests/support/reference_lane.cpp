#include "support/reference_lane.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "cipher/modes/segments.hpp"
#include "support/aes_reference.hpp"
#include "support/kuznyechik_reference.hpp"
#include "support/reference_aeads.hpp"

namespace gpuaes {
namespace {

void do_ctr(const Job& job) {
  const std::span<const std::byte> key = job.key->bytes.bytes();
  const Counter first = load_counter(job.counter);
  Bytes bytes(job.in.begin(), job.in.end());
  switch (info(job.key->cipher).family) {
    case Family::aes:
      bytes = reference_ctr(aes::expand_key(key), first, bytes);
      break;
    case Family::kuznyechik: {
      const kuznyechik::RoundKeys keys = kuznyechik::expand_key(key);
      bytes = reference_ctr([&](const CounterBlock& block) { return kuznyechik::encrypt(keys, block); },
                            first, bytes);
      break;
    }
    case Family::chacha20:
      refuse_cipher(job.key->cipher);
  }
  std::ranges::copy(bytes, job.out.begin());
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
