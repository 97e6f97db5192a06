#include "format/ctr_session.hpp"

#include <utility>

namespace gpuaes {
namespace {

constexpr std::size_t block_bytes = sizeof(CounterBlock);

class CtrSession : public Session {
 public:
  CtrSession(CipherKey key, Counter first, std::vector<std::byte> header)
      : key_(std::move(key)), first_(first), header_(std::move(header)) {}

  std::span<const std::byte> header() const override { return header_; }
  Cipher cipher() const override { return key_.cipher; }
  std::size_t unit_in() const override { return block_bytes; }
  std::size_t unit_out() const override { return block_bytes; }
  std::size_t output_size(std::size_t in_size, bool) const override { return in_size; }
  Job job(const Piece& piece) const override {
    return {.operation = Operation::ctr,
            .key = &key_,
            .in = piece.in,
            .out = piece.out,
            .counter = store_counter(first_ + piece.offset / block_bytes)};
  }

 private:
  CipherKey key_;
  Counter first_;
  std::vector<std::byte> header_;
};

}  // namespace

std::unique_ptr<Session> make_ctr_session(CipherKey key, Counter first, std::vector<std::byte> header) {
  return std::make_unique<CtrSession>(std::move(key), first, std::move(header));
}

}  // namespace gpuaes
