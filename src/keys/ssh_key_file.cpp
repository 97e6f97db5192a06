// Private key files of SSH.
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/libcrypto.hpp"
#include "keys/kdf.hpp"
#include "keys/ssh_key.hpp"

namespace gpuaes {
namespace {

[[noreturn]] void refuse(const std::string& name, std::string_view what) {
  throw UsageError(fmt::format("{} is not a valid SSH private key: {}", name, what));
}

constexpr char types_hint[] = "use a key of type ssh-ed25519 or ssh-rsa";

[[noreturn]] void refuse_type(const std::string& name) {
  throw UsageError(fmt::format("{} is a private key of a type that is not supported", name), types_hint);
}

[[noreturn]] void refuse_passphrase(const std::string& name) {
  throw UsageError(fmt::format("{} is an SSH private key with a passphrase, which is not supported", name),
                   Advice::copy_without_passphrase);
}

// PEM ----------------------------------------------------------------------------------------------------

struct PemBlock {
  std::string label;  // as in "BEGIN LABEL"
  bool has_header;    // which says how it is encrypted
  Secret contents;
};

struct FreeText {
  void operator()(char* text) const { OPENSSL_secure_free(text); }
};
using Text = std::unique_ptr<char, FreeText>;

PemBlock read_pem(std::string_view text, const std::string& name) {
  const std::unique_ptr<BIO, FreeWith<BIO_free>> input(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  check_call(input != nullptr, "BIO_new_mem_buf");
  char *label = nullptr, *header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;
  const bool good = PEM_read_bio_ex(input.get(), &label, &header, &data, &size, PEM_FLAG_SECURE) == 1;
  const Text held_label(label), held_header(header);
  const auto wipe_data = [size](unsigned char* each) {
    OPENSSL_secure_clear_free(each, static_cast<std::size_t>(size));
  };
  const std::unique_ptr<unsigned char, decltype(wipe_data)> held_data(data, wipe_data);
  if (!good) {
    ERR_clear_error();
    refuse(name, "its PEM encoding is damaged or truncated");
  }
  return {label, *header != '\0',
          secret_of({reinterpret_cast<std::byte*>(data), static_cast<std::size_t>(size)})};
}

// OpenSSH's format, PROTOCOL.key ---------------------------------------------------------------------------

constexpr std::string_view openssh_magic{"openssh-key-v1\0", 15};

bool is_padding(std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != static_cast<std::byte>(i + 1)) return false;
  return true;
}

// The fields of an Ed25519 key after its type: the point, then the seed and the point again.
Key read_ed25519(SshReader& fields, const std::string& name) {
  const std::span<const std::byte> point = fields.string(), pair = fields.string();
  if (point.size() != x25519_bytes || pair.size() != private_key_bytes + x25519_bytes)
    refuse(name, "its numbers have wrong lengths");
  Key key{.kind = KeyKind::ssh_ed25519, .secret = secret_of(pair.first(private_key_bytes))};
  key.public_key = ssh_ed25519_kem.public_key_of(key.secret);
  const std::span<const std::byte> derived = std::span(key.public_key).last(x25519_bytes);
  if (!std::ranges::equal(derived, point) || !std::ranges::equal(derived, pair.last(x25519_bytes)))
    refuse(name, "its public key does not match");
  return key;
}

// n, e, d, and three numbers that only make decryption faster.
Key read_rsa(SshReader& fields, const std::string& name) {
  const auto modulus = fields.positive_number(), exponent = fields.positive_number(),
             private_exponent = fields.positive_number();
  for (int i = 0; i < 3; ++i) fields.string();
  if (modulus.empty() || exponent.empty() || private_exponent.empty())
    refuse(name, "its numbers are not canonical");
  return {.kind = KeyKind::ssh_rsa,
          .secret = secret_of(private_exponent),
          .public_key = make_ssh_rsa_key(modulus, exponent)};
}

Key read_private_section(std::span<const std::byte> section, const std::string& name) {
  constexpr std::size_t block_bytes = 8;
  SshReader fields(section);
  const std::uint32_t number = fields.number();
  if (fields.number() != number) refuse(name, "its check numbers differ");
  const std::string_view type = as_text(fields.string());
  if (type != ssh_ed25519_type && type != ssh_rsa_type) refuse_type(name);
  Key key = type == ssh_rsa_type ? read_rsa(fields, name) : read_ed25519(fields, name);
  fields.string();  // the comment
  if (fields.failed() || !is_padding(fields.rest()) || fields.rest().size() >= block_bytes ||
      section.size() % block_bytes != 0)
    refuse(name, "its padding is wrong");
  return key;
}

Key parse_openssh(std::span<const std::byte> contents, const std::string& name) {
  SshReader file(contents);
  if (as_text(file.take(openssh_magic.size())) != openssh_magic) refuse(name, "it is of another version");
  const std::string_view cipher = as_text(file.string()), kdf = as_text(file.string());
  const bool has_kdf_options = !file.string().empty();
  const std::uint32_t count = file.number();
  const std::span<const std::byte> public_key = file.string(), section = file.string();
  if (file.failed()) refuse(name, "it is truncated");
  if (cipher != "none") refuse_passphrase(name);
  if (kdf != "none" || has_kdf_options) refuse(name, "it has a key derivation, but is not encrypted");
  if (count != 1 || !file.is_complete()) refuse(name, "it does not consist of one key");
  Key key = read_private_section(section, name);
  if (!std::ranges::equal(key.public_key, public_key)) refuse(name, "its public key does not match");
  return key;
}

// Formats that libcrypto reads -----------------------------------------------------------------------------

Secret rsa_number(const EvpKey& key, const char* parameter) {
  BIGNUM* found = nullptr;
  check_call(EVP_PKEY_get_bn_param(key.get(), parameter, &found) == 1, "EVP_PKEY_get_bn_param");
  const std::unique_ptr<BIGNUM, FreeWith<BN_clear_free>> number(found);
  Secret bytes(static_cast<std::size_t>(BN_num_bytes(number.get())));
  BN_bn2bin(number.get(), octets(bytes.bytes().data()));
  return bytes;
}

// Null if it is not a key of that type. No other type is decoded, because libcrypto would compute the public
// key of a large DSA key for minutes.
EvpKey decode_der(const Secret& contents, const char* type) {
  EVP_PKEY* key = nullptr;
  const std::unique_ptr<OSSL_DECODER_CTX, FreeWith<OSSL_DECODER_CTX_free>> decoder(
      OSSL_DECODER_CTX_new_for_pkey(&key, "DER", nullptr, type, EVP_PKEY_KEYPAIR, nullptr, nullptr));
  check_call(decoder != nullptr, "OSSL_DECODER_CTX_new_for_pkey");
  const unsigned char* at = octets(contents.bytes().data());
  std::size_t left = contents.size();
  if (OSSL_DECODER_from_data(decoder.get(), &at, &left) != 1) ERR_clear_error();
  return EvpKey(key);
}

Key parse_der(const Secret& contents, const std::string& name) {
  if (const EvpKey key = decode_der(contents, "RSA"))
    return {.kind = KeyKind::ssh_rsa,
            .secret = rsa_number(key, OSSL_PKEY_PARAM_RSA_D),
            .public_key = make_ssh_rsa_key(rsa_number(key, OSSL_PKEY_PARAM_RSA_N).bytes(),
                                           rsa_number(key, OSSL_PKEY_PARAM_RSA_E).bytes())};
  const EvpKey key = decode_der(contents, "ED25519");
  if (key == nullptr)
    throw UsageError(
        fmt::format("{} is not a valid SSH private key: it is damaged or of a type that is not supported",
                    name),
        types_hint);
  Key identity{.kind = KeyKind::ssh_ed25519, .secret = Secret(private_key_bytes)};
  std::size_t size = identity.secret.size();
  check_call(EVP_PKEY_get_raw_private_key(key.get(), octets(identity.secret.bytes().data()), &size) == 1,
             "EVP_PKEY_get_raw_private_key");
  identity.public_key = ssh_ed25519_kem.public_key_of(identity.secret);
  return identity;
}

// Whether the private exponent undoes the public one. Ed25519 keys have been checked. A longer exponent than
// that of the public key's bytes would take long.
bool is_pair(const Key& key) {
  if (key.kind != KeyKind::ssh_rsa) return true;
  if (key.secret.size() > key.public_key.size()) return false;
  const Secret message = random_secret(private_key_bytes);
  const std::optional<Secret> again =
      decrypt_ssh_rsa(key.public_key, key.secret, encrypt_ssh_rsa(key.public_key, message));
  return again && is_equal(again->bytes(), message.bytes());
}

}  // namespace

Key parse_ssh_identity(std::string_view contents, const std::string& name) {
  const PemBlock block = read_pem(contents, name);
  if (block.has_header || block.label == "ENCRYPTED PRIVATE KEY") refuse_passphrase(name);
  Key key = block.label == "OPENSSH PRIVATE KEY" ? parse_openssh(block.contents.bytes(), name)
                                                 : parse_der(block.contents, name);
  key.name = name;
  if (const std::string fault = describe_ssh_fault(key.kind, key.public_key); !fault.empty())
    refuse(name, fault);
  if (!is_pair(key)) refuse(name, "its public key does not match");
  return key;
}

}  // namespace gpuaes
