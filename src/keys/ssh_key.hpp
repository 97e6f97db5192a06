// SSH keys as recipients and identities: lines of public keys, as in id_ed25519.pub and authorized_keys, and
// private key files. age has them for Ed25519 and RSA. Public keys are as SSH encodes them. IoError if
// libcrypto fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/public.hpp"
#include "keys/kdf.hpp"
#include "keys/keyring.hpp"
#include "keys/x25519.hpp"

namespace gpuaes {

// Whether the text begins like a public key, of any type, or like a private key in PEM (RFC 7468).
bool looks_like_ssh_recipient(std::string_view text);
bool looks_like_ssh_identity(std::string_view text);

inline constexpr char ssh_types_hint[] = "only ssh-ed25519 and ssh-rsa keys can be recipients";

// None if keys of that type cannot be recipients.
std::optional<KeyKind> ssh_kind_of(std::string_view type);

// The type of a well-formed public key that cannot be a recipient, such as ecdsa-sha2-nistp256.
std::optional<std::string> other_ssh_type(std::string_view text);

// Parses a line of a public key: its type, Base64, and possibly a comment. UsageError naming `name`.
Key parse_ssh_recipient(std::string_view text, const std::string& name);

// What is wrong with a public key, as in "it has 1024 bits, ..."; empty if it is valid.
std::string describe_ssh_fault(KeyKind kind, std::span<const std::byte> public_key);

// The line, without a comment.
std::string ssh_text_of(const Key& recipient);

// The beginning of the SHA-256 hash of a public key.
inline constexpr std::size_t ssh_fingerprint_bytes = 4;
std::array<std::byte, ssh_fingerprint_bytes> ssh_fingerprint(std::span<const std::byte> public_key);

// A private key file: OpenSSH's format (PROTOCOL.key), or PKCS #1 or PKCS #8 in PEM. UsageError naming `name`
// unless the file is valid.
class SshKeyFile {
 public:
  SshKeyFile(std::string_view contents, std::string name);

  bool has_passphrase() const;

  // The recipient for a file with a passphrase; none if only FILE.pub shows it.
  std::optional<Key> recipient() const;

  // UsageError if the file is encrypted with a method that is not supported.
  void check_encryption() const;

  // The key, whose public key is that of the recipient; none if the passphrase is wrong, which a file without
  // one ignores. UsageError as above.
  std::optional<Key> open(const Secret& passphrase, const StopCheck& check) const;

 private:
  std::string name_;
  std::string label_, encryption_;  // of PEM (RFC 1421): as in "BEGIN LABEL", and the header
  Secret contents_;
};

// Ed25519 (RFC 8709) for key agreement, as age does it (c2sp.org/age, "The ssh-ed25519 recipient type"): the
// public key becomes one of X25519. The private keys of ssh_ed25519_kem (kem.hpp) are the seeds of Ed25519.
inline constexpr char ssh_ed25519_type[] = "ssh-ed25519";
inline constexpr std::string_view ssh_ed25519_label = "age-encryption.org/v1/ssh-ed25519";

// The X25519 public key for a public key. None unless the encoding and its Ed25519 point are canonical, and
// the point is on the curve and of neither order 1 nor 2.
std::optional<PublicKey> x25519_key_of(std::span<const std::byte> ssh_key);

// RSA (RFC 4253, section 6.6) for encryption, as age does it (c2sp.org/age, "The ssh-rsa recipient type"):
// RSAES-OAEP (RFC 8017) with SHA-256.
inline constexpr char ssh_rsa_type[] = "ssh-rsa";
inline constexpr std::string_view ssh_rsa_label = "age-encryption.org/v1/ssh-rsa";
inline constexpr std::size_t min_rsa_bits = 2048;  // of the modulus, as in age 1.3

PublicBytes make_ssh_rsa_key(std::span<const std::byte> modulus, std::span<const std::byte> exponent);

// The ciphertext of a short message, as long as the modulus of the public key, which must be valid.
std::vector<std::byte> encrypt_ssh_rsa(std::span<const std::byte> ssh_key, const Secret& message);

// The message; none if the ciphertext is for another key. `exponent` is the private one, with the most
// significant byte first. The other numbers of a private key would only make this faster. Published vectors
// have other labels.
std::optional<Secret> decrypt_ssh_rsa(std::span<const std::byte> ssh_key, const Secret& exponent,
                                      std::span<const std::byte> ciphertext,
                                      std::string_view label = ssh_rsa_label);

// The encoding of SSH keys (RFC 4251, section 5): strings with their length before them.
inline constexpr std::size_t ssh_length_bytes = 4;

// Takes fields from the beginning of `bytes`. Fields that exceed them are empty, and so are all after them.
class SshReader {
 public:
  explicit SshReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::span<const std::byte> take(std::size_t size) {
    if (size > rest_.size()) failed_ = true;
    if (failed_) return {};
    const std::span<const std::byte> taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }

  std::uint32_t number() { return static_cast<std::uint32_t>(load_big_endian(take(ssh_length_bytes))); }
  // Lengths are public: the type of a key determines them, except for leading zeros of RSA's numbers.
  std::span<const std::byte> string() { return take(as_public(number())); }

  // A positive mpint, without the zero byte before a high bit; empty unless it is canonical.
  std::span<const std::byte> positive_number() {
    constexpr std::byte high_bit{0x80};
    const std::span<const std::byte> digits = string();
    const bool has_zero = !digits.empty() && digits.front() == std::byte{0};
    const std::span<const std::byte> number = digits.subspan(has_zero ? 1 : 0);
    const bool needs_zero = !number.empty() && (number.front() & high_bit) != std::byte{0};
    return has_zero == needs_zero ? number : std::span<const std::byte>();
  }

  std::span<const std::byte> rest() const { return rest_; }
  bool failed() const { return failed_; }
  bool is_complete() const { return !failed_ && rest_.empty(); }  // whether the fields fill the bytes

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

inline void append_ssh_string(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  out.resize(out.size() + ssh_length_bytes);
  store_big_endian(bytes.size(), std::span(out).last(ssh_length_bytes));
  append(out, bytes);
}

}  // namespace gpuaes
