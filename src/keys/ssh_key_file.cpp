// Private key files of SSH.
#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/decoder.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/libcrypto.hpp"
#include "base/public.hpp"
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

[[noreturn]] void refuse_encryption(const std::string& name, std::string_view method) {
  throw UsageError(
      fmt::format("{} is encrypted with {}, which is not supported", name, method),
      "copy the key, and change the passphrase of the copy with ssh-keygen, which encrypts it with AES-256");
}

// PEM ----------------------------------------------------------------------------------------------------

struct PemBlock {
  std::string label, header;
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
  // The second flag accepts spaces at the ends of lines.
  constexpr unsigned flags = PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE;
  const bool good = PEM_read_bio_ex(input.get(), &label, &header, &data, &size, flags) == 1;
  const Text held_label(label), held_header(header);
  const auto wipe_data = [size](unsigned char* each) {
    OPENSSL_secure_clear_free(each, static_cast<std::size_t>(size));
  };
  const std::unique_ptr<unsigned char, decltype(wipe_data)> held_data(data, wipe_data);
  if (!good) {
    ERR_clear_error();
    refuse(name, "its PEM encoding is damaged or truncated");
  }
  return {label, header, secret_of({reinterpret_cast<std::byte*>(data), static_cast<std::size_t>(size)})};
}

// As in "DEK-Info: AES-128-CBC,...".
std::string method_in(const std::string& header) {
  std::string method = header.substr(std::min(header.find("DEK-Info: "), header.size()));
  method = method.substr(0, method.find(','));
  return method.erase(0, method.find(' ') + 1);
}

void check_method(const std::string& header, const std::string& name) {
  const std::string method = method_in(header);
  if (method.empty()) refuse(name, "its DEK-Info is missing");
  if (!method.starts_with("AES-") || !method.ends_with("-CBC")) refuse_encryption(name, method);
}

// Decrypts the contents of a block. Returns false if the padding shows that the passphrase is wrong.
bool decrypt_pem(const std::string& header, Secret& contents, const Secret& passphrase,
                 const std::string& name) {
  // PEM_get_EVP_CIPHER_INFO() searches libcrypto's table of ciphers, which the programs do not fill.
  for (const EVP_CIPHER* const each : {EVP_aes_128_cbc(), EVP_aes_192_cbc(), EVP_aes_256_cbc()})
    check_call(EVP_add_cipher(each) == 1, "EVP_add_cipher");
  std::string buffer = header;  // libcrypto's parameter is not const
  EVP_CIPHER_INFO cipher;
  if (PEM_get_EVP_CIPHER_INFO(buffer.data(), &cipher) != 1) {
    ERR_clear_error();
    refuse(name, "its DEK-Info is damaged");
  }
  const auto answer = [](char* out, int capacity, int, void* given) {
    const std::span<const std::byte> bytes = static_cast<const Secret*>(given)->bytes();
    if (std::cmp_greater(bytes.size(), capacity)) return -1;
    std::ranges::copy(bytes, reinterpret_cast<std::byte*>(out));
    return static_cast<int>(bytes.size());
  };
  long size = static_cast<long>(contents.size());
  const bool good = PEM_do_header(&cipher, octets(contents.bytes().data()), &size, answer,
                                  const_cast<Secret*>(&passphrase)) == 1;
  if (good) contents.shrink(static_cast<std::size_t>(size));
  ERR_clear_error();
  return good;
}

// OpenSSH's format, PROTOCOL.key ---------------------------------------------------------------------------

constexpr std::string_view openssh_label = "OPENSSH PRIVATE KEY", pkcs8_label = "ENCRYPTED PRIVATE KEY";

constexpr std::string_view openssh_magic{"openssh-key-v1\0", 15};

bool is_padding(std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != static_cast<std::byte>(i + 1)) return false;
  return true;
}

// The fields of an Ed25519 key after its type: the point, then the seed and the point again. The point is the
// public key.
Key read_ed25519(SshReader& fields, const std::string& name) {
  const std::span<const std::byte> point = as_public(fields.string()), pair = fields.string();
  if (point.size() != x25519_bytes || pair.size() != private_key_bytes + x25519_bytes)
    refuse(name, "its numbers have wrong lengths");
  Key key{.kind = KeyKind::ssh_ed25519, .secret = secret_of(pair.first(private_key_bytes))};
  key.public_key = ssh_ed25519_kem.public_key_of(key.secret);
  const std::span<const std::byte> derived = as_public(std::span(key.public_key).last(x25519_bytes));
  if (!std::ranges::equal(derived, point) || !std::ranges::equal(derived, as_public(pair.last(x25519_bytes))))
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

struct OpensshCipher {
  std::string_view name;
  const char* evp_name;  // null for plaintext
  std::size_t block_bytes, key_bytes = 32, iv_bytes = 16, tag_bytes = 0;
};
constexpr char chacha20[] = "ChaCha20";
constexpr std::array openssh_ciphers{OpensshCipher{"none", nullptr, 8},
                                     OpensshCipher{"aes128-ctr", "AES-128-CTR", 16, 16},
                                     OpensshCipher{"aes192-ctr", "AES-192-CTR", 16, 24},
                                     OpensshCipher{"aes256-ctr", "AES-256-CTR", 16},
                                     OpensshCipher{"aes128-cbc", "AES-128-CBC", 16, 16},
                                     OpensshCipher{"aes192-cbc", "AES-192-CBC", 16, 24},
                                     OpensshCipher{"aes256-cbc", "AES-256-CBC", 16},
                                     OpensshCipher{"aes128-gcm@openssh.com", "AES-128-GCM", 16, 16, 12, 16},
                                     OpensshCipher{"aes256-gcm@openssh.com", "AES-256-GCM", 16, 32, 12, 16},
                                     OpensshCipher{"chacha20-poly1305@openssh.com", chacha20, 8, 64, 0, 16}};

const OpensshCipher* find_openssh_cipher(std::string_view name) {
  const auto cipher = std::ranges::find(openssh_ciphers, name, &OpensshCipher::name);
  return cipher != openssh_ciphers.end() ? &*cipher : nullptr;
}

// The public fields of a file, its encrypted section, and that section's tag.
struct OpensshFile {
  std::string_view cipher, kdf;
  std::span<const std::byte> kdf_options, public_key, section, tag;
};

OpensshFile read_openssh(std::span<const std::byte> contents, const std::string& name) {
  SshReader fields(contents);
  if (as_text(fields.take(openssh_magic.size())) != openssh_magic)
    refuse(name, "its version is not supported");
  OpensshFile file;
  file.cipher = as_text(fields.string());
  file.kdf = as_text(fields.string());
  file.kdf_options = fields.string();
  const std::uint32_t count = fields.number();
  file.public_key = fields.string();
  file.section = fields.string();
  file.tag = fields.rest();
  const OpensshCipher* const cipher = find_openssh_cipher(file.cipher);
  const std::size_t tag_bytes = cipher != nullptr ? cipher->tag_bytes : file.tag.size();
  if (fields.failed() || file.tag.size() < tag_bytes) refuse(name, "it is truncated");
  if (count != 1 || file.tag.size() > tag_bytes) refuse(name, "it does not contain exactly one key");
  if (file.cipher == "none" && (file.kdf != "none" || !file.kdf_options.empty()))
    refuse(name, "it has a key derivation, but is not encrypted");
  return file;
}

const OpensshCipher& cipher_of(const OpensshFile& file, const std::string& name) {
  const OpensshCipher* const cipher = find_openssh_cipher(file.cipher);
  if (cipher == nullptr) refuse_encryption(name, file.cipher);
  return *cipher;
}

struct BcryptOptions {
  std::span<const std::byte> salt;
  std::uint32_t rounds;
};

BcryptOptions read_kdf_options(const OpensshFile& file, const std::string& name) {
  if (file.kdf != "bcrypt") refuse_encryption(name, fmt::format("the key derivation {}", file.kdf));
  SshReader fields(file.kdf_options);
  const std::span<const std::byte> salt = fields.string();
  const std::uint32_t rounds = fields.number();
  if (!fields.is_complete() || salt.empty() || rounds == 0) refuse(name, "its key derivation is damaged");
  return {salt, rounds};
}

// Decrypts `bytes` in place. Returns false if there is a tag and it is wrong.
bool decrypt(const char* evp_name, const std::byte* key, const std::byte* iv, std::span<const std::byte> tag,
             std::span<std::byte> bytes) {
  const CipherContext context(EVP_CIPHER_CTX_new());
  check_call(context != nullptr, "EVP_CIPHER_CTX_new");
  const EvpCipher cipher = fetch_cipher<IoError>(evp_name);
  unsigned char* const data = octets(bytes.data());
  int size = 0;
  check_call(EVP_DecryptInit_ex2(context.get(), cipher.get(), octets(key), octets(iv), nullptr) == 1 &&
                 EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1 &&
                 EVP_DecryptUpdate(context.get(), data, &size, data, static_cast<int>(bytes.size())) == 1,
             "EVP_DecryptUpdate");
  if (tag.empty()) return true;
  check_call(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()),
                                 const_cast<std::byte*>(tag.data())) == 1,
             "EVP_CTRL_AEAD_SET_TAG");
  const bool good = EVP_DecryptFinal_ex(context.get(), data + size, &size) == 1;
  ERR_clear_error();
  return good;
}

// OpenSSH's construction (PROTOCOL.chacha20poly1305), with packet number 0: the first block of
// the key stream begins with the key of Poly1305, which authenticates only the ciphertext.
bool decrypt_chacha20(const Secret& key, std::span<const std::byte> tag, std::span<std::byte> bytes) {
  constexpr std::size_t block_bytes = 64, poly1305_key_bytes = 32;
  constexpr std::array<std::byte, 16> start{};  // counter and nonce
  Secret stream(block_bytes + bytes.size());
  const std::span<std::byte> first = stream.bytes().first(block_bytes),
                             rest = stream.bytes().subspan(block_bytes);
  std::ranges::fill(first, std::byte{0});
  std::ranges::copy(bytes, rest.begin());
  decrypt(chacha20, key.bytes().data(), start.data(), {}, stream.bytes());
  std::array<std::byte, 16> computed;
  check_call(EVP_Q_mac(nullptr, "POLY1305", nullptr, nullptr, nullptr, first.data(), poly1305_key_bytes,
                       octets(bytes.data()), bytes.size(), octets(computed.data()), computed.size(), nullptr),
             "EVP_Q_mac");
  std::ranges::copy(rest, bytes.begin());
  return is_equal(computed, tag);
}

// The section, decrypted. None if its tag shows that the passphrase is wrong.
std::optional<Secret> decrypt_section(const OpensshFile& file, const OpensshCipher& cipher,
                                      const Secret& passphrase, const StopCheck& check,
                                      const std::string& name) {
  const auto [salt, rounds] = read_kdf_options(file, name);
  Secret section = secret_of(file.section);
  const Secret key =
      bcrypt_pbkdf(passphrase.bytes(), salt, rounds, cipher.key_bytes + cipher.iv_bytes, check);
  const bool good = cipher.evp_name == chacha20
                        ? decrypt_chacha20(key, file.tag, section.bytes())
                        : decrypt(cipher.evp_name, key.bytes().data(), key.bytes().data() + cipher.key_bytes,
                                  file.tag, section.bytes());
  return good ? std::optional(std::move(section)) : std::nullopt;
}

// The type is that of the public key, and the padding depends only on lengths.
Key read_private_section(std::span<const std::byte> section, std::size_t block_bytes,
                         const std::string& name) {
  SshReader fields(section);
  fields.take(2 * ssh_length_bytes);  // the check numbers
  const std::string_view type = as_text(as_public(fields.string()));
  if (type != ssh_ed25519_type && type != ssh_rsa_type) refuse_type(name);
  Key key = type == ssh_rsa_type ? read_rsa(fields, name) : read_ed25519(fields, name);
  fields.string();  // the comment
  if (fields.failed() || !is_padding(as_public(fields.rest())) || fields.rest().size() >= block_bytes)
    refuse(name, "its padding is wrong");
  return key;
}

// Whether the section begins with a number twice, as it does unless the passphrase was wrong. The result is
// public: the program reports it.
bool has_check_numbers(std::span<const std::byte> section) {
  SshReader fields(section);
  const std::uint32_t number = fields.number();
  return as_public(fields.number() == number) && !fields.failed();
}

std::optional<Key> open_openssh(std::span<const std::byte> contents, const Secret& passphrase,
                                const StopCheck& check, const std::string& name) {
  const OpensshFile file = read_openssh(contents, name);
  const OpensshCipher& cipher = cipher_of(file, name);
  if (file.section.size() % cipher.block_bytes != 0) refuse(name, "its padding is wrong");
  const bool is_encrypted = cipher.evp_name != nullptr;
  const std::optional<Secret> decrypted =
      is_encrypted ? decrypt_section(file, cipher, passphrase, check, name) : Secret();
  if (!decrypted) return std::nullopt;
  const std::span<const std::byte> section = is_encrypted ? decrypted->bytes() : file.section;
  if (!has_check_numbers(section)) {
    if (is_encrypted) return std::nullopt;
    refuse(name, "its check numbers differ");
  }
  Key key = read_private_section(section, cipher.block_bytes, name);
  if (!std::ranges::equal(key.public_key, file.public_key)) refuse(name, "its public key does not match");
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

// None if it is not the encoding of a key.
std::optional<Key> parse_der(const Secret& contents) {
  if (const EvpKey key = decode_der(contents, "RSA"))
    return Key{.kind = KeyKind::ssh_rsa,
               .secret = rsa_number(key, OSSL_PKEY_PARAM_RSA_D),
               .public_key = make_ssh_rsa_key(rsa_number(key, OSSL_PKEY_PARAM_RSA_N).bytes(),
                                              rsa_number(key, OSSL_PKEY_PARAM_RSA_E).bytes())};
  const EvpKey key = decode_der(contents, "ED25519");
  if (key == nullptr) return std::nullopt;
  Key identity{.kind = KeyKind::ssh_ed25519, .secret = Secret(private_key_bytes)};
  std::size_t size = identity.secret.size();
  check_call(EVP_PKEY_get_raw_private_key(key.get(), octets(identity.secret.bytes().data()), &size) == 1,
             "EVP_PKEY_get_raw_private_key");
  identity.public_key = ssh_ed25519_kem.public_key_of(identity.secret);
  return identity;
}

std::optional<Key> open_pem(const std::string& header, Secret contents, const Secret& passphrase,
                            const std::string& name) {
  if (!header.empty() && !decrypt_pem(header, contents, passphrase, name)) return std::nullopt;
  std::optional<Key> key = parse_der(contents);
  if (!key && header.empty())
    throw UsageError(
        fmt::format("{} is not a valid SSH private key: it is damaged or of a type that is not supported",
                    name),
        types_hint);
  return key;
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

SshKeyFile::SshKeyFile(std::string_view contents, std::string name) : name_(std::move(name)) {
  PemBlock block = read_pem(contents, name_);
  label_ = std::move(block.label);
  encryption_ = std::move(block.header);
  contents_ = std::move(block.contents);
  if (label_ == openssh_label) read_openssh(contents_.bytes(), name_);
}

bool SshKeyFile::has_passphrase() const {
  if (label_ == openssh_label) return read_openssh(contents_.bytes(), name_).cipher != "none";
  return !encryption_.empty() || label_ == pkcs8_label;
}

std::optional<Key> SshKeyFile::recipient() const {
  if (label_ != openssh_label) return std::nullopt;
  const std::span<const std::byte> key = read_openssh(contents_.bytes(), name_).public_key;
  const std::optional<KeyKind> kind = ssh_kind_of(as_text(SshReader(key).string()));
  if (!kind) refuse_type(name_);
  if (const std::string fault = describe_ssh_fault(*kind, key); !fault.empty()) refuse(name_, fault);
  return Key{.kind = *kind, .public_key = PublicBytes(key.begin(), key.end()), .name = name_};
}

void SshKeyFile::check_encryption() const {
  if (label_ == pkcs8_label) refuse_encryption(name_, "PKCS #8");
  if (!encryption_.empty()) check_method(encryption_, name_);
  if (label_ != openssh_label) return;
  const OpensshFile file = read_openssh(contents_.bytes(), name_);
  if (cipher_of(file, name_).evp_name != nullptr) read_kdf_options(file, name_);
}

std::optional<Key> SshKeyFile::open(const Secret& passphrase, const StopCheck& check) const {
  check_encryption();
  std::optional<Key> key = label_ == openssh_label
                               ? open_openssh(contents_.bytes(), passphrase, check, name_)
                               : open_pem(encryption_, contents_.copy(), passphrase, name_);
  if (!key) return std::nullopt;
  key->name = name_;
  if (const std::string fault = describe_ssh_fault(key->kind, key->public_key); !fault.empty())
    refuse(name_, fault);
  if (!is_pair(*key)) refuse(name_, "its public key does not match");
  return key;
}

}  // namespace gpuaes
