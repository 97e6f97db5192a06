// bcrypt_pbkdf, as OpenSSH derives keys from passphrases (PROTOCOL.key): OpenBSD's bcrypt_pbkdf(3), which
// makes PBKDF2's blocks with bcrypt (Provos and Mazières, "A Future-Adaptable Password Scheme", 1999) instead
// of HMAC. bcrypt uses Blowfish (Schneier, 1993), which makes secret-dependent memory accesses by design.
#include <openssl/bn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.hpp"
#include "base/libcrypto.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t subkeys = 18, s_boxes = 4, s_box_words = 256;
constexpr std::size_t state_words = subkeys + s_boxes * s_box_words;
constexpr std::size_t word_bytes = sizeof(std::uint32_t);

// Blowfish's initial state: the first bits of pi after the point -----------------------------------

// 2^bits * arctan(1/x), by its series; each term is a few units too small.
BigNumber arctan_of_inverse(unsigned x, int bits) {
  const BigNumber power = make_number(), term = make_number();
  BigNumber sum = make_number();
  bool good = BN_set_bit(power.get(), bits) == 1 && BN_div_word(power.get(), x) < x;
  for (unsigned n = 1; good && !BN_is_zero(power.get()); n += 2) {
    good = BN_copy(term.get(), power.get()) != nullptr && BN_div_word(term.get(), n) < n &&
           (n % 4 == 1 ? BN_add : BN_sub)(sum.get(), sum.get(), term.get()) == 1 &&
           BN_div_word(power.get(), x * x) < x * x;
  }
  check_call(good, "BN_div_word");
  return sum;
}

// Machin's formula: pi = 16 arctan(1/5) - 4 arctan(1/239).
std::vector<std::byte> digits_of_pi(std::size_t bytes) {
  constexpr std::size_t guard_bytes = 8;  // ample for the errors of all terms
  const int bits = static_cast<int>(8 * (bytes + guard_bytes));
  const BigNumber pi = arctan_of_inverse(5, bits), other = arctan_of_inverse(239, bits);
  std::vector<std::byte> digits(bytes + guard_bytes);
  check_call(BN_lshift(pi.get(), pi.get(), 4) == 1 && BN_lshift(other.get(), other.get(), 2) == 1 &&
                 BN_sub(pi.get(), pi.get(), other.get()) == 1 && BN_mask_bits(pi.get(), bits) == 1 &&
                 BN_bn2binpad(pi.get(), octets(digits.data()), static_cast<int>(digits.size())) > 0,
             "BN_mask_bits");
  digits.resize(bytes);
  return digits;
}

// Blowfish with the key schedule of bcrypt ----------------------------------------------------------

using State = std::array<std::uint32_t, state_words>;

const State& initial_state() {
  static const State state = [] {
    const std::vector<std::byte> digits = digits_of_pi(state_words * word_bytes);
    State words;
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] =
          static_cast<std::uint32_t>(load_big_endian(std::span(digits).subspan(i * word_bytes, word_bytes)));
    return words;
  }();
  return state;
}

// A secret that consists of numbers.
class SecretWords {
 public:
  explicit SecretWords(std::size_t count) : memory_(count * word_bytes) {}

  std::span<std::byte> bytes() { return memory_.bytes(); }
  std::span<std::uint32_t> words() {
    return {reinterpret_cast<std::uint32_t*>(memory_.bytes().data()), memory_.size() / word_bytes};
  }
  std::span<const std::uint32_t> words() const {
    return {reinterpret_cast<const std::uint32_t*>(memory_.bytes().data()), memory_.size() / word_bytes};
  }

 private:
  Secret memory_;
};

struct Block {
  std::uint32_t left = 0, right = 0;
};

class Blowfish {
 public:
  Blowfish() { std::ranges::copy(initial_state(), state_.words().begin()); }

  Block encrypt(Block block) const {
    const std::uint32_t* const subkey = state_.words().data();
    std::uint32_t left = block.left ^ subkey[0], right = block.right;
    for (std::size_t i = 1; i + 1 < subkeys; i += 2) {
      right ^= substitute(left) ^ subkey[i];
      left ^= substitute(right) ^ subkey[i + 1];
    }
    return {right ^ subkey[subkeys - 1], left};
  }

  // ExpandKey of the paper, with a hash each for the key and the salt. An empty salt stands for zeros.
  void expand(std::span<const std::uint32_t> key, std::span<const std::uint32_t> salt) {
    const std::span<std::uint32_t> words = state_.words();
    for (std::size_t i = 0; i < subkeys; ++i) words[i] ^= key[i % key.size()];
    Block block;
    for (std::size_t i = 0; i < words.size(); i += 2) {
      if (!salt.empty()) {
        block.left ^= salt[i % salt.size()];
        block.right ^= salt[(i + 1) % salt.size()];
      }
      block = encrypt(block);
      words[i] = block.left;
      words[i + 1] = block.right;
    }
  }

 private:
  std::uint32_t substitute(std::uint32_t x) const {
    const std::uint32_t* const box = state_.words().data() + subkeys;
    const std::uint32_t sum = box[x >> 24] + box[s_box_words + (x >> 16 & 255)];
    return (sum ^ box[2 * s_box_words + (x >> 8 & 255)]) + box[3 * s_box_words + (x & 255)];
  }

  SecretWords state_{state_words};  // the subkeys, then the S-boxes
};

// Blocks of PBKDF2 ------------------------------------------------------------------------------------

constexpr std::size_t hash_bytes = 64, output_bytes = 32;

SecretWords sha512(std::initializer_list<std::span<const std::byte>> parts) {
  SecretWords hash(hash_bytes / word_bytes);
  const DigestContext context = digest_of(EVP_sha512(), parts);
  check_call(EVP_DigestFinal_ex(context.get(), octets(hash.bytes().data()), nullptr) == 1,
             "EVP_DigestFinal_ex");
  for (std::uint32_t& word : hash.words()) word = __builtin_bswap32(word);
  return hash;
}

// bcrypt with a cost of 6, a longer plaintext, and words in little-endian order.
SecretWords bcrypt_hash(const SecretWords& passphrase, const SecretWords& salt) {
  constexpr std::string_view plaintext = "OxychromaticBlowfishSwatDynamite";
  constexpr int repetitions = 64;
  static_assert(plaintext.size() == output_bytes);
  Blowfish cipher;
  cipher.expand(passphrase.words(), salt.words());
  for (int i = 0; i < repetitions; ++i) {
    cipher.expand(salt.words(), {});
    cipher.expand(passphrase.words(), {});
  }
  SecretWords hash(output_bytes / word_bytes);
  const std::span<std::uint32_t> words = hash.words();
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const auto word = [&](std::size_t at) {
      return static_cast<std::uint32_t>(
          load_big_endian(bytes_of(plaintext).subspan(at * word_bytes, word_bytes)));
    };
    Block block{word(i), word(i + 1)};
    for (int j = 0; j < repetitions; ++j) block = cipher.encrypt(block);
    words[i] = block.left;
    words[i + 1] = block.right;
  }
  return hash;
}

}  // namespace

Secret bcrypt_pbkdf(std::span<const std::byte> passphrase, std::span<const std::byte> salt,
                    std::uint32_t rounds, std::size_t size, const StopCheck& check) {
  const SecretWords hashed_passphrase = sha512({passphrase});
  const std::size_t blocks = (size + output_bytes - 1) / output_bytes;
  Secret key(size);
  for (std::size_t block = 0; block < blocks; ++block) {
    std::array<std::byte, word_bytes> number;
    store_big_endian(block + 1, number);
    SecretWords last = bcrypt_hash(hashed_passphrase, sha512({salt, number}));
    SecretWords sum(last.words().size());
    for (std::uint32_t round = 1;; ++round) {
      for (std::size_t i = 0; i < sum.words().size(); ++i) sum.words()[i] ^= last.words()[i];
      if (round >= rounds) break;
      if (check) check();
      last = bcrypt_hash(hashed_passphrase, sha512({last.bytes()}));
    }
    // Unlike PBKDF2, spreads each block over the whole key.
    for (std::size_t i = 0; block + i * blocks < size; ++i) key.bytes()[block + i * blocks] = sum.bytes()[i];
  }
  return key;
}

}  // namespace gpuaes
