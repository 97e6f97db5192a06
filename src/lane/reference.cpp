// The oracle: AES as FIPS 197 writes it, a block at a time.

#include "cipher/aes.hpp"
#include "error.hpp"
#include "lane/lanes.hpp"

namespace gpuaes {
namespace {

class ReferenceLane : public Lane {
 public:
  std::string name() const override { return "reference"; }

  void start(const Job& job) override {
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

  void finish() override {}
};

}  // namespace

std::unique_ptr<Lane> make_reference_lane() {
  return std::make_unique<ReferenceLane>();
}

}  // namespace gpuaes
