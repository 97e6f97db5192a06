// RSA keys of SSH (RFC 4253, section 6.6) for encryption, as age does it (c2sp.org/age, "The ssh-rsa
// recipient type"): RSAES-OAEP (RFC 8017) with SHA-256. IoError if libcrypto fails.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "keys/kem.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

inline constexpr char ssh_rsa_type[] = "ssh-rsa";

// Of the modulus. The minimum is that of age 1.3. Decryption cannot be interrupted, and its time grows with
// the cube of the size.
inline constexpr std::size_t min_rsa_bits = 2048, max_rsa_bits = 8192;

// Public keys are as SSH encodes them, and valid.
PublicBytes make_ssh_rsa_key(std::span<const std::byte> modulus, std::span<const std::byte> exponent);

// What is wrong with a public key, as in "it has a modulus of 1024 bits"; empty if it is valid.
std::string describe_ssh_rsa_fault(std::span<const std::byte> ssh_key);

// The ciphertext of a short message, as long as the modulus.
std::vector<std::byte> encrypt_ssh_rsa(std::span<const std::byte> ssh_key, const Secret& message);

// The message; none if the ciphertext is for another key. `exponent` is the private one, with the most
// significant byte first. The other numbers of a private key would only make this faster.
std::optional<Secret> decrypt_ssh_rsa(std::span<const std::byte> ssh_key, const Secret& exponent,
                                      std::span<const std::byte> ciphertext);

}  // namespace gpuaes
