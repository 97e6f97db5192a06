#include "cipher/mgm_cpu.hpp"

#include <algorithm>
#include <array>

#include "cipher/carryless.hpp"
#include "cipher/kdf.hpp"
#include "cipher/mgm.hpp"
#include "cipher/secret.hpp"

namespace gpuaes {
namespace {

using kuznyechik::Block;

constexpr std::size_t block_bytes = sizeof(Block);
constexpr std::size_t batch = kuznyechik::largest_batch / 2;  // blocks of keystream, and as many factors
constexpr std::size_t most_aad_blocks = most_aad_bytes / block_bytes;

constexpr std::size_t count_blocks(std::size_t bytes) {
  return (bytes + block_bytes - 1) / block_bytes;
}

// Blocks that are secret, wiped on the way out.
template <std::size_t count>
struct SecretBlocks {
  ~SecretBlocks() { wipe(std::as_writable_bytes(std::span(of))); }
  alignas(64) std::array<Block, count> of;
};

}  // namespace

Tag MgmCpu::crypt(const MgmNonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> in,
                  std::span<std::byte> out, Ciphertext ciphertext) const {
  SecretBlocks<2> first;
  first.of = {mgm::first_counter(nonce), mgm::first_factor(nonce)};
  cipher_.encrypt(first.of);
  const Counter counter = load_counter(first.of[0]), factor = load_counter(first.of[1]);

  // The associated data and the lengths: what comes before the ciphertext and after it, in one go.
  mgm::Product sum{};
  const std::size_t aad_blocks = count_blocks(aad.size()), blocks = count_blocks(in.size());
  SecretBlocks<most_aad_blocks + 1> ends;
  for (std::size_t i = 0; i < aad_blocks; ++i) ends.of[i] = store_counter(mgm::next_factor(factor, i));
  ends.of[aad_blocks] = store_counter(mgm::next_factor(factor, aad_blocks + blocks));
  cipher_.encrypt(std::span(ends.of).first(aad_blocks + 1));
  add_products(std::span(ends.of).first(aad_blocks), aad, sum);
  const Block lengths = mgm::lengths(aad.size(), in.size());
  add_products(std::span(ends.of).subspan(aad_blocks, 1), std::as_bytes(std::span(lengths)), sum);

  SecretBlocks<2 * batch> both;
  for (std::size_t at = 0; at < blocks; at += batch) {
    const std::size_t count = std::min(batch, blocks - at);
    const std::span keystream = std::span(both.of).first(count),
                    factors = std::span(both.of).subspan(count, count);
    for (std::size_t i = 0; i < count; ++i) {
      keystream[i] = store_counter(mgm::next_counter(counter, at + i));
      factors[i] = store_counter(mgm::next_factor(factor, aad_blocks + at + i));
    }
    cipher_.encrypt(std::span(both.of).first(2 * count));
    const std::size_t size = std::min(count * block_bytes, in.size() - at * block_bytes);
    const std::span<const std::byte> from = in.subspan(at * block_bytes, size);
    const std::span<std::byte> to = out.subspan(at * block_bytes, size);
    if (ciphertext == Ciphertext::in) add_products(factors, from, sum);
    add_keystream(keystream, from, to);
    if (ciphertext == Ciphertext::out) add_products(factors, to, sum);
  }

  std::array<Block, 1> last;
  ghash::store_bytes(mgm::reduce(sum), last[0].data());
  wipe(std::as_writable_bytes(std::span(sum.words)));
  cipher_.encrypt(last);
  return last[0];
}

void MgmCpu::seal(const MgmNonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> plain,
                  std::span<std::byte> ciphertext, std::span<std::byte> tag) const {
  const Tag made = crypt(nonce, aad, plain, ciphertext, Ciphertext::out);
  std::ranges::copy(std::as_bytes(std::span(made)), tag.begin());
}

bool MgmCpu::open(const MgmNonce& nonce, std::span<const std::byte> aad,
                  std::span<const std::byte> ciphertext, std::span<const std::byte> tag,
                  std::span<std::byte> plain) const {
  const Tag made = crypt(nonce, aad, ciphertext, plain, Ciphertext::in);
  return is_equal(std::as_bytes(std::span(made)), tag);
}

}  // namespace gpuaes
