#include "keys/ssh_key.hpp"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/libcrypto.hpp"
#include "base/text.hpp"
#include "keys/kdf.hpp"

namespace gpuaes {

// Ed25519: the conversion to X25519 has no secrets ----------------------------------------------------

namespace {

using Scratch = std::unique_ptr<BN_CTX, FreeWith<BN_CTX_free>>;

// An element of the field, from its encoding.
BigNumber element(const PublicKey& bytes) {
  BigNumber number(BN_lebin2bn(octets(bytes.data()), x25519_bytes, nullptr));
  check_call(number != nullptr, "BN_lebin2bn");
  return number;
}

BigNumber field_prime() {
  BigNumber prime = make_number(1);
  check_call(BN_lshift(prime.get(), prime.get(), 255) == 1 && BN_sub_word(prime.get(), 19) == 1, "BN_lshift");
  return prime;
}

// The u-coordinate for the y-coordinate of a point (RFC 7748, section 4.1): u = (1 + y) / (1 - y). The point
// is on the curve if u^3 + 486662 u^2 + u is a square, which is zero only for the point of order 2.
std::optional<PublicKey> u_of(const PublicKey& y_bytes) {
  const Scratch scratch(BN_CTX_new());
  check_call(scratch != nullptr, "BN_CTX_new");
  const BigNumber prime_number = field_prime(), one = make_number(1), coefficient = make_number(486662),
                  y = element(y_bytes), divisor = make_number(0), u = make_number(0), square = make_number(0);
  BIGNUM *const value = square.get(), *const prime = prime_number.get();
  BN_CTX* const context = scratch.get();
  check_call(BN_mod_sub(divisor.get(), one.get(), y.get(), prime, context) == 1, "BN_mod_sub");
  if (BN_is_zero(divisor.get())) return std::nullopt;  // the point of order 1
  check_call(BN_mod_inverse(divisor.get(), divisor.get(), prime, context) != nullptr &&
                 BN_mod_add(u.get(), one.get(), y.get(), prime, context) == 1 &&
                 BN_mod_mul(u.get(), u.get(), divisor.get(), prime, context) == 1 &&
                 BN_mod_add(value, u.get(), coefficient.get(), prime, context) == 1 &&
                 BN_mod_mul(value, value, u.get(), prime, context) == 1 &&
                 BN_mod_add(value, value, one.get(), prime, context) == 1 &&
                 BN_mod_mul(value, value, u.get(), prime, context) == 1,
             "BN_mod_mul");
  const int symbol = BN_kronecker(value, prime, context);
  check_call(symbol != -2, "BN_kronecker");
  if (symbol != 1) return std::nullopt;
  PublicKey bytes;
  check_call(BN_bn2lebinpad(u.get(), octets(bytes.data()), x25519_bytes) == x25519_bytes, "BN_bn2lebinpad");
  return bytes;
}

PublicBytes ssh_key_of(const PublicKey& point) {
  PublicBytes ssh_key;
  append_ssh_string(ssh_key, bytes_of(ssh_ed25519_type));
  append_ssh_string(ssh_key, point);
  return ssh_key;
}

PublicBytes public_key_of_seed(const Secret& seed) {
  const EvpKey key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, octets(seed.bytes().data()), seed.size()));
  check_call(key != nullptr, "EVP_PKEY_new_raw_private_key");
  PublicKey point;
  std::size_t size = point.size();
  check_call(EVP_PKEY_get_raw_public_key(key.get(), octets(point.data()), &size) == 1 && size == point.size(),
             "EVP_PKEY_get_raw_public_key");
  return ssh_key_of(point);
}

// RFC 8032, section 5.1.5. X25519 clears and sets the same bits of its private keys.
Secret scalar_of(const Secret& seed) {
  Secret hash(64);
  check_call(EVP_Digest(seed.bytes().data(), seed.size(), octets(hash.bytes().data()), nullptr, EVP_sha512(),
                        nullptr) == 1,
             "EVP_Digest");
  hash.shrink(x25519_bytes);
  return hash;
}

// The point multiplied by a factor that depends only on the public key. age multiplies the shared secret by
// it, which gives the same result, but here what is multiplied is public.
std::optional<PublicKey> tweak(std::span<const std::byte> ssh_key, const PublicKey& point) {
  const Secret factor = hkdf_sha256({}, ssh_key, bytes_of(ssh_ed25519_label), x25519_bytes);
  const std::optional<Secret> product = shared_secret(factor, point);
  return product ? std::optional(point_of(product->bytes())) : std::nullopt;
}

std::optional<Secret> shared_with(const Secret& private_key, std::span<const std::byte> ssh_key,
                                  const PublicKey& point) {
  const std::optional<PublicKey> tweaked = tweak(ssh_key, point);
  return tweaked ? shared_secret(private_key, *tweaked) : std::nullopt;
}

}  // namespace

std::optional<PublicKey> x25519_key_of(std::span<const std::byte> ssh_key) {
  constexpr std::byte sign{0x80};  // of x, the highest bit; u does not depend on it
  SshReader reader(ssh_key);
  const bool is_type = as_text(reader.string()) == ssh_ed25519_type;
  const std::span<const std::byte> bytes = reader.string();
  if (!is_type || bytes.size() != x25519_bytes || !reader.is_complete()) return std::nullopt;
  PublicKey y = point_of(bytes);
  y.back() &= ~sign;
  return is_canonical(y) ? u_of(y) : std::nullopt;
}

constinit const Kem ssh_ed25519_kem{
    .public_bytes = 2 * ssh_length_bytes + std::string_view(ssh_ed25519_type).size() + x25519_bytes,
    .ciphertext_bytes = x25519_bytes,
    .is_available = [] { return true; },
    .public_key_of = public_key_of_seed,
    .is_canonical = [](std::span<const std::byte> ssh_key) { return x25519_key_of(ssh_key).has_value(); },
    .encapsulate = [](std::span<const std::byte> ssh_key) -> std::optional<Encapsulation> {
      const std::optional<PublicKey> point = x25519_key_of(ssh_key);
      if (!point) return std::nullopt;
      const Secret ephemeral = make_private_key();
      std::optional<Secret> shared = shared_with(ephemeral, ssh_key, *point);
      if (!shared) return std::nullopt;
      return Encapsulation{x25519_kem.public_key_of(ephemeral), std::move(*shared)};
    },
    .is_ciphertext = [](std::span<const std::byte> share) { return x25519_kem.is_ciphertext(share); },
    .decapsulate =
        [](const Secret& seed, std::span<const std::byte> ciphertext) {
          return shared_with(scalar_of(seed), public_key_of_seed(seed), point_of(ciphertext));
        },
};

// RSA -------------------------------------------------------------------------------------------------

namespace {

// Of the modulus. Decryption cannot be interrupted, and its time grows with the cube of the size.
constexpr std::size_t max_rsa_bits = 8192;

// The numbers of a public key, the most significant byte first.
struct RsaNumbers {
  std::span<const std::byte> exponent, modulus;
};

// None if the encoding is not canonical.
std::optional<RsaNumbers> read_numbers(std::span<const std::byte> ssh_key) {
  SshReader reader(ssh_key);
  const bool is_type = as_text(reader.string()) == ssh_rsa_type;
  const std::span<const std::byte> exponent = reader.positive_number(), modulus = reader.positive_number();
  if (!is_type || exponent.empty() || modulus.empty() || !reader.is_complete()) return std::nullopt;
  return RsaNumbers{exponent, modulus};
}

// A positive number, whose first byte is not zero, as an mpint.
void append_ssh_number(std::vector<std::byte>& out, std::span<const std::byte> number) {
  constexpr std::byte zero[1]{};
  const bool needs_zero = (number.front() & std::byte{0x80}) != std::byte{0};
  append_ssh_string(out, concatenate(std::span(zero).first(needs_zero ? 1 : 0), number));
}

std::size_t bits_of(std::span<const std::byte> number) {
  return 8 * number.size() -
         static_cast<std::size_t>(std::countl_zero(std::to_integer<std::uint8_t>(number.front())));
}

bool is_odd(std::span<const std::byte> number) {
  return (number.back() & std::byte{1}) != std::byte{0};
}

// libcrypto takes numbers with the least significant byte first, as the machine has them.
static_assert(std::endian::native == std::endian::little);
Secret reversed(std::span<const std::byte> number) {
  Secret bytes(number.size());
  std::ranges::reverse_copy(number, bytes.bytes().begin());
  return bytes;
}

OSSL_PARAM number_parameter(const char* name, Secret& number) {
  return OSSL_PARAM_construct_BN(name, octets(number.bytes().data()), number.size());
}

// The key, with the private exponent if there is one.
EvpKey load(std::span<const std::byte> ssh_key, const Secret* private_exponent) {
  const RsaNumbers numbers = read_numbers(ssh_key).value();
  Secret n = reversed(numbers.modulus), e = reversed(numbers.exponent), d;
  std::vector<OSSL_PARAM> parameters{number_parameter(OSSL_PKEY_PARAM_RSA_N, n),
                                     number_parameter(OSSL_PKEY_PARAM_RSA_E, e)};
  if (private_exponent != nullptr) {
    d = reversed(private_exponent->bytes());
    parameters.push_back(number_parameter(OSSL_PKEY_PARAM_RSA_D, d));
  }
  parameters.push_back(OSSL_PARAM_construct_end());
  const EvpKeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr));
  check_call(context != nullptr, "EVP_PKEY_CTX_new_from_name");
  check_call(EVP_PKEY_fromdata_init(context.get()) == 1, "EVP_PKEY_fromdata_init");
  EVP_PKEY* key = nullptr;
  const int selection = private_exponent != nullptr ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY;
  check_call(EVP_PKEY_fromdata(context.get(), &key, selection, parameters.data()) == 1, "EVP_PKEY_fromdata");
  return EvpKey(key);
}

EvpKeyContext context_of(const EvpKey& key, int (*initialize)(EVP_PKEY_CTX*, const OSSL_PARAM[]),
                         std::string_view label) {
  EvpKeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  check_call(context != nullptr, "EVP_PKEY_CTX_new_from_pkey");
  char padding[] = "oaep", digest[] = "SHA256";
  std::string label_text(label);
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_PAD_MODE, padding, 0),
      OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_ASYM_CIPHER_PARAM_OAEP_LABEL, label_text.data(),
                                        label_text.size()),
      OSSL_PARAM_construct_end()};
  check_call(initialize(context.get(), parameters) == 1, "the initialization of RSA");
  return context;
}

// What is wrong with a public key; empty if it is valid.
std::string describe_rsa_fault(std::span<const std::byte> ssh_key) {
  constexpr std::size_t max_exponent_bytes = 3;  // as in age 1.3
  const std::optional<RsaNumbers> numbers = read_numbers(ssh_key);
  if (!numbers) return "its encoding is not canonical";
  const std::size_t bits = bits_of(numbers->modulus);
  if (bits < min_rsa_bits || bits > max_rsa_bits)
    return fmt::format("it has {} bits; {} to {} are allowed", bits, min_rsa_bits, max_rsa_bits);
  if (!is_odd(numbers->modulus)) return "its modulus is even";
  const auto& exponent = numbers->exponent;
  if (exponent.size() > max_exponent_bytes || !is_odd(exponent) || bits_of(exponent) == 1)
    return "its exponent is not an odd number from 3 to 2^24";
  return {};
}

}  // namespace

PublicBytes make_ssh_rsa_key(std::span<const std::byte> modulus, std::span<const std::byte> exponent) {
  PublicBytes ssh_key;
  append_ssh_string(ssh_key, bytes_of(ssh_rsa_type));
  append_ssh_number(ssh_key, exponent);
  append_ssh_number(ssh_key, modulus);
  return ssh_key;
}

std::vector<std::byte> encrypt_ssh_rsa(std::span<const std::byte> ssh_key, const Secret& message) {
  const EvpKey key = load(ssh_key, nullptr);
  const EvpKeyContext context = context_of(key, EVP_PKEY_encrypt_init_ex, ssh_rsa_label);
  std::vector<std::byte> ciphertext(static_cast<std::size_t>(EVP_PKEY_get_size(key.get())));
  std::size_t size = ciphertext.size();
  check_call(EVP_PKEY_encrypt(context.get(), octets(ciphertext.data()), &size, octets(message.bytes().data()),
                              message.size()) == 1,
             "EVP_PKEY_encrypt");
  return ciphertext;
}

std::optional<Secret> decrypt_ssh_rsa(std::span<const std::byte> ssh_key, const Secret& exponent,
                                      std::span<const std::byte> ciphertext, std::string_view label) {
  const EvpKey key = load(ssh_key, &exponent);
  const EvpKeyContext context = context_of(key, EVP_PKEY_decrypt_init_ex, label);
  Secret message(static_cast<std::size_t>(EVP_PKEY_get_size(key.get())));
  std::size_t size = message.size();
  if (ciphertext.size() != size) return std::nullopt;
  const int result = EVP_PKEY_decrypt(context.get(), octets(message.bytes().data()), &size,
                                      octets(ciphertext.data()), ciphertext.size());
  if (as_public(result) != 1) {
    ERR_clear_error();
    return std::nullopt;
  }
  message.shrink(as_public(size));
  return message;
}

// Lines of public keys --------------------------------------------------------------------------------

namespace {

struct PublicLine {
  std::string_view type;
  PublicBytes key;  // as SSH encodes it, which begins with the type
};

std::string_view take_field(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(line_spaces), text.size());
  const std::string_view field = text.substr(0, end);
  text = trim(text.substr(end));
  return field;
}

// None unless the line has a type and the Base64 of a key that has the same type.
std::optional<PublicLine> read_line(std::string_view text) {
  const std::string_view type = take_field(text);
  std::optional<PublicBytes> key = decode_base64(take_field(text), Padding::required);
  if (!key || as_text(SshReader(*key).string()) != type) return std::nullopt;
  return PublicLine{type, std::move(*key)};
}

}  // namespace

std::optional<KeyKind> ssh_kind_of(std::string_view type) {
  if (type == ssh_ed25519_type) return KeyKind::ssh_ed25519;
  if (type == ssh_rsa_type) return KeyKind::ssh_rsa;
  return std::nullopt;
}

bool looks_like_ssh_recipient(std::string_view text) {
  bool found = false;
  for (const std::string_view type : {"ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"})
    found |= has_prefix(bytes_of(text), type);
  return found;
}

bool looks_like_ssh_identity(std::string_view text) {
  return has_prefix(bytes_of(text), "-----BEGIN ") && trim_end(text).ends_with("PRIVATE KEY-----");
}

std::optional<std::string> other_ssh_type(std::string_view text) {
  const std::optional<PublicLine> line = read_line(text);
  if (!line || !looks_like_ssh_recipient(line->type) || ssh_kind_of(line->type)) return std::nullopt;
  return std::string(line->type);
}

Key parse_ssh_recipient(std::string_view text, const std::string& name) {
  if (const std::optional<std::string> type = other_ssh_type(text))
    throw UsageError(fmt::format("{} is an SSH key of type {}, which cannot be a recipient", name, *type),
                     ssh_types_hint);
  std::optional<PublicLine> line = read_line(text);
  const std::optional<KeyKind> kind = line ? ssh_kind_of(line->type) : std::nullopt;
  if (!kind) throw UsageError(fmt::format("{} is not a valid SSH key: it is damaged or truncated", name));
  if (const std::string fault = describe_ssh_fault(*kind, line->key); !fault.empty())
    throw UsageError(fmt::format("{} is not a valid SSH key: {}", name, fault));
  return {.kind = *kind, .public_key = std::move(line->key)};
}

std::string describe_ssh_fault(KeyKind kind, std::span<const std::byte> public_key) {
  if (kind == KeyKind::ssh_rsa) return describe_rsa_fault(public_key);
  return x25519_key_of(public_key) ? "" : "it is not the canonical form of a point on the curve";
}

std::string ssh_text_of(const Key& recipient) {
  return fmt::format("{} {}", as_text(SshReader(recipient.public_key).string()),
                     encode_base64(recipient.public_key, Padding::required));
}

std::array<std::byte, ssh_fingerprint_bytes> ssh_fingerprint(std::span<const std::byte> public_key) {
  const auto hash = sha256(public_key);
  std::array<std::byte, ssh_fingerprint_bytes> begin;
  std::copy_n(hash.begin(), begin.size(), begin.begin());
  return begin;
}

}  // namespace gpuaes
