#include "keys/ssh_rsa.hpp"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "base/bytes.hpp"
#include "base/libcrypto.hpp"
#include "keys/ssh_wire.hpp"

namespace gpuaes {
namespace {

constexpr std::string_view oaep_label = "age-encryption.org/v1/ssh-rsa";

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

EvpKeyContext context_of(const EvpKey& key, int (*initialize)(EVP_PKEY_CTX*, const OSSL_PARAM[])) {
  EvpKeyContext context(EVP_PKEY_CTX_new_from_pkey(nullptr, key.get(), nullptr));
  check_call(context != nullptr, "EVP_PKEY_CTX_new_from_pkey");
  char padding[] = "oaep", digest[] = "SHA256";
  std::string label_text(oaep_label);
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_PAD_MODE, padding, 0),
      OSSL_PARAM_construct_utf8_string(OSSL_ASYM_CIPHER_PARAM_OAEP_DIGEST, digest, 0),
      OSSL_PARAM_construct_octet_string(OSSL_ASYM_CIPHER_PARAM_OAEP_LABEL, label_text.data(),
                                        label_text.size()),
      OSSL_PARAM_construct_end()};
  check_call(initialize(context.get(), parameters) == 1, "the initialization of RSA");
  return context;
}

}  // namespace

PublicBytes make_ssh_rsa_key(std::span<const std::byte> modulus, std::span<const std::byte> exponent) {
  PublicBytes ssh_key;
  append_ssh_string(ssh_key, bytes_of(ssh_rsa_type));
  append_ssh_number(ssh_key, exponent);
  append_ssh_number(ssh_key, modulus);
  return ssh_key;
}

std::string describe_ssh_rsa_fault(std::span<const std::byte> ssh_key) {
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

std::vector<std::byte> encrypt_ssh_rsa(std::span<const std::byte> ssh_key, const Secret& message) {
  const EvpKey key = load(ssh_key, nullptr);
  const EvpKeyContext context = context_of(key, EVP_PKEY_encrypt_init_ex);
  std::vector<std::byte> ciphertext(static_cast<std::size_t>(EVP_PKEY_get_size(key.get())));
  std::size_t size = ciphertext.size();
  check_call(EVP_PKEY_encrypt(context.get(), octets(ciphertext.data()), &size, octets(message.bytes().data()),
                              message.size()) == 1,
             "EVP_PKEY_encrypt");
  return ciphertext;
}

std::optional<Secret> decrypt_ssh_rsa(std::span<const std::byte> ssh_key, const Secret& exponent,
                                      std::span<const std::byte> ciphertext) {
  const EvpKey key = load(ssh_key, &exponent);
  const EvpKeyContext context = context_of(key, EVP_PKEY_decrypt_init_ex);
  Secret message(static_cast<std::size_t>(EVP_PKEY_get_size(key.get())));
  std::size_t size = message.size();
  if (ciphertext.size() != size) return std::nullopt;
  if (EVP_PKEY_decrypt(context.get(), octets(message.bytes().data()), &size, octets(ciphertext.data()),
                       ciphertext.size()) != 1) {
    ERR_clear_error();
    return std::nullopt;
  }
  message.shrink(size);
  return message;
}

}  // namespace gpuaes
