// Runs what handles secrets on CPUs under Memcheck, with the secrets marked as undefined: it reports each
// branch and each address that depends on one. Subjects must cause no report. Controls, which leak on purpose
// or by design, must cause some: otherwise, the absence of reports would prove nothing.
// What Memcheck does not see must cause none either: otherwise, it can become a control.
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <valgrind/memcheck.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "base/libcrypto.hpp"
#include "cipher/aes/bitslice_ctr.hpp"
#include "cipher/chacha20/chacha20.hpp"
#include "cipher/chacha20/poly1305.hpp"
#include "cipher/cpu_cipher.hpp"
#include "cipher/kuznyechik/cpu.hpp"
#include "cipher/kuznyechik/kuznyechik.hpp"
#include "cipher/modes/ghash.hpp"
#include "cipher/simd_gates.hpp"
#include "format/age_header.hpp"
#include "format/slots.hpp"
#include "format/stanzas.hpp"
#include "keys/bech32.hpp"
#include "keys/kdf.hpp"
#include "keys/kem.hpp"
#include "keys/key.hpp"
#include "keys/ml_kem.hpp"
#include "keys/ssh_key.hpp"
#include "keys/x25519.hpp"
#include "support/bytes.hpp"
#include "support/kuznyechik_reference.hpp"

namespace gpuaes {

// The code for AVX-512 without its instructions, which Memcheck does not know.
namespace kuznyechik::wide {
namespace {
constexpr std::size_t vector_bytes = 64;
#pragma GCC diagnostic ignored "-Wpsabi"  // no other file calls these functions
#define GPUAES_TARGET
#include "cipher/kuznyechik/cpu_body.hpp"
#undef GPUAES_TARGET
}  // namespace
}  // namespace kuznyechik::wide

namespace {

unsigned secrets = 0;

// Marks a secret as undefined. Its length is public.
void poison(std::span<const std::byte> secret) {
  (void)VALGRIND_MAKE_MEM_UNDEFINED(secret.data(), secret.size());
  ++secrets;
}

// Marks what is published, or what is compared here.
void publish(std::span<const std::byte> bytes) {
  (void)VALGRIND_MAKE_MEM_DEFINED(bytes.data(), bytes.size());
}

void expect(bool condition, const char* what) {
  if (condition) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}

Secret make_secret(std::size_t size) {
  Secret secret = secret_of(test_bytes(size));
  poison(secret.bytes());
  return secret;
}

void read_key_file(std::string_view contents) {
  const Bytes bytes = to_bytes(contents);
  poison(bytes);
  expect(find_raw_key(bytes).value().key.size() == 32, "the key has 32 bytes");
}

void encode_and_decode_bech32() {
  const Secret data = make_secret(32);
  Bytes text(bech32_characters(3, 32)), again(32);
  encode_bech32("abc", data.bytes(), text);
  expect(decode_bech32("abc", as_text(text), again) == Bech32Fault::none, "the text is valid");
}

void encode_and_decode_base64() {
  const Secret data = make_secret(32);
  Bytes text(base64_characters(32)), again(32);
  encode_secret_base64(data.bytes(), text);
  expect(decode_secret_base64(as_text(text), again), "the text is canonical");
}

PublicKey exchange() {
  const Secret own = make_secret(x25519_bytes);
  PublicKey key = public_key_of(own);
  publish(key);
  expect(shared_secret(own, key).has_value(), "the shared secret is not zero");
  return key;
}

// Two segments and a short one, with the libraries or the code that lanes use.
void seal_and_open(Cipher cipher) {
  const CipherKey key{cipher, make_secret(info(cipher).key_bytes)};
  Bytes plain(40000), sealed(plain.size() + 3 * tag_bytes), opened(plain.size());
  poison(plain);
  Job job{.operation = Operation::seal, .key = &key, .in = plain, .out = sealed};
  job.base_nonce.size = info(cipher).aead.nonce_bytes;
  expect(!make_cpu_cipher(job)->run(job), "sealing does not verify");
  publish(sealed);
  job.operation = Operation::open;
  job.in = sealed;
  job.out = opened;
  expect(!make_cpu_cipher(job)->run(job), "all tags are right");
}

void encrypt_ctr(Cipher cipher) {
  const CipherKey key{cipher, make_secret(info(cipher).key_bytes)};
  Bytes plain(40000), out(plain.size());
  poison(plain);
  const Job job{.operation = Operation::ctr, .key = &key, .in = plain, .out = out};
  (void)make_cpu_cipher(job)->run(job);
}

void encrypt_kuznyechik() {
  using kuznyechik::SimdCode;
  std::vector<SimdCode> codes{{"wide", kuznyechik::wide::batch_blocks, nullptr, kuznyechik::wide::encrypt}};
  std::ranges::copy_if(kuznyechik::simd_codes(), std::back_inserter(codes),
                       [](const SimdCode& code) { return code.is_supported(); });
  for (const SimdCode& code : codes) {
    std::vector<kuznyechik::Block> blocks(600);
    poison(std::as_bytes(std::span(blocks)));
    KuznyechikCpu(make_secret(32).bytes(), code).encrypt(blocks);
  }
}

// Makes the compiler compute a value.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "m"(value));
}

// What kernels share with the host. scripts/audit checks the machine code of kernels.
void run_code_of_kernels() {
  std::uint32_t words[32];
  poison(std::as_bytes(std::span(words)));
  aes::Column column;
  std::ranges::copy(words, column.words);
  aes::transpose(column);
  keep(column);
  const ghash::Element h = ghash::load(words);
  keep(multiply(h, ghash::Multiplier(h)));
  const poly1305::Number r = poly1305::load_clamped(words);
  keep(poly1305::multiply(r, r));
  keep(chacha20::block(words, 1, words));
  std::uint32_t bits[8];
  std::ranges::copy_n(words, 8, bits);
  aes::substitute(bits);
  keep(bits);
}

void wrap_and_unwrap_slot(const Key& recipient, const Key& opener) {
  const SlotKind& kind = *find_slot_kind(recipient.kind);
  const Bytes body = kind.wrap(make_secret(file_key_bytes), recipient, {});
  publish(body);
  const SessionRequest request{};
  expect(kind.unwrap({.at = 0, .type = *kind.type, .body = body}, opener, request).has_value(),
         "the slot opens");
}

Key recipient(const PublicKey& key) {
  return {.kind = KeyKind::x25519, .public_key = {key.begin(), key.end()}};
}

Key identity() {
  return {.kind = KeyKind::x25519, .secret = make_secret(x25519_bytes)};
}

void wrap_and_unwrap_stanza(const Key& recipient, const Key& opener) {
  const StanzaKind& kind = *find_stanza_kind(recipient.kind);
  const Stanza stanza = kind.wrap(make_secret(age_file_key_bytes), recipient, {});
  publish(stanza.body);
  expect(kind.unwrap(stanza, opener, SessionRequest{}).has_value(), "the stanza opens");
}

void use_ssh_key() {
  const Secret seed = make_secret(private_key_bytes);
  const PublicBytes key = ssh_ed25519_kem.public_key_of(seed);
  publish(key);
  wrap_and_unwrap_stanza({.kind = KeyKind::ssh_ed25519, .public_key = key},
                         {.kind = KeyKind::ssh_ed25519, .secret = seed.copy(), .public_key = key});
}

Bytes number_of(const EvpKey& key, const char* name) {
  BIGNUM* number = nullptr;
  expect(EVP_PKEY_get_bn_param(key.get(), name, &number) == 1, "the key has this number");
  Bytes bytes(static_cast<std::size_t>(BN_num_bytes(number)));
  BN_bn2bin(number, octets(bytes.data()));
  BN_free(number);
  return bytes;
}

// Makes the key before the private exponent becomes a secret. The suppressions say what libcrypto shows of
// it.
void use_ssh_rsa_key() {
  const EvpKey key(EVP_RSA_gen(2048));
  expect(key != nullptr, "libcrypto makes a key");
  const PublicBytes ssh_key =
      make_ssh_rsa_key(number_of(key, OSSL_PKEY_PARAM_RSA_N), number_of(key, OSSL_PKEY_PARAM_RSA_E));
  const Secret exponent = secret_of(number_of(key, OSSL_PKEY_PARAM_RSA_D));
  poison(exponent.bytes());
  wrap_and_unwrap_stanza({.kind = KeyKind::ssh_rsa, .public_key = ssh_key},
                         {.kind = KeyKind::ssh_rsa, .secret = exponent.copy(), .public_key = ssh_key});
}

// The suppressions say that bcrypt leaks here.
void open_ssh_key_file() {
  const SshKeyFile file(
      "-----BEGIN OPENSSH PRIVATE KEY-----\n"
      "b3BlbnNzaC1rZXktdjEAAAAACmFlczI1Ni1jdHIAAAAGYmNyeXB0AAAAGAAAABBSgi898m\n"
      "Sw9CEW2L/ha2bfAAAAAQAAAAEAAAAzAAAAC3NzaC1lZDI1NTE5AAAAIPg3vZujfDRhNMJm\n"
      "eiA5KvAy4sAujXAh0Cl0PkkszRs9AAAAkOR1a+2vBU8M9rn5atx/tcV3CEAUVTrDGIjlRq\n"
      "1MrE46WHRrkaVFat0Y45wy8XvNIvcPdC9w+Y4oTYrgoB1B0xE+gxhw8zU3QXguNKbp+zg+\n"
      "o6o3j7QPUISsal+rnu46lSWYdbi0Zc9xk+kxOg4LvIvF77H2/QaUVaJ8HZjyoVJKzJC1aE\n"
      "gjV/T0+8JMPy2DJw==\n"
      "-----END OPENSSH PRIVATE KEY-----\n",
      "key");
  const Secret passphrase = secret_of(to_bytes("words"));
  poison(passphrase.bytes());
  expect(file.open(passphrase, {}).has_value(), "the passphrase is right");
}

Key post_quantum_key() {
  Key key{.kind = KeyKind::xwing, .secret = make_secret(private_key_bytes)};
  key.public_key = xwing_kem.public_key_of(key.secret);
  publish(key.public_key);
  return key;
}

void use_post_quantum_key() {
  const Key key = post_quantum_key();
  wrap_and_unwrap_slot(key, key);
  wrap_and_unwrap_stanza(key, key);
}

// The private key of P-256 comes from the generator of libcrypto, whose later output is poisoned, too.
void use_tagged_recipients() {
  const Secret seed = make_secret(32);
  RAND_seed(seed.bytes().data(), static_cast<int>(seed.size()));
  // The generator of the group (SP 800-186, section 3.2.1.3).
  const Key tagged{
      .kind = KeyKind::p256,
      .public_key = from_hex("036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")};
  (void)find_stanza_kind(tagged.kind)->wrap(make_secret(age_file_key_bytes), tagged, {});
}

struct Case {
  const char* name;
  std::function<void()> run;
};

const std::vector<Case> subjects{
    {"a key file in hexadecimal",
     [] { read_key_file("00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF\n"); }},
    {"a raw key file", [] { read_key_file("0123456789abcdef0123456789abcdex"); }},
    {"Bech32", encode_and_decode_bech32},
    {"Base64 of secrets", encode_and_decode_base64},
    {"comparison", [] { (void)is_equal(make_secret(32).bytes(), make_secret(32).bytes()); }},
    {"HKDF with SHA-512", [] { (void)hkdf_sha512(make_secret(32).bytes(), {}, {}, 64); }},
    {"HKDF with SHA-256", [] { (void)hkdf_sha256(make_secret(32).bytes(), {}, {}, 32); }},
    {"HMAC", [] { (void)hmac_sha512(make_secret(32).bytes(), {}); }},
    {"PBKDF2", [] { (void)pbkdf2_sha256(make_secret(20).bytes(), Bytes(8), 100, 32); }},
    {"X25519", exchange},
    {"a slot for a key file",
     [] {
       const Key key{.kind = KeyKind::key_file, .secret = make_secret(32)};
       wrap_and_unwrap_slot(key, key);
     }},
    {"a slot for X25519", [] { wrap_and_unwrap_slot(recipient(exchange()), identity()); }},
    {"an age stanza for X25519", [] { wrap_and_unwrap_stanza(recipient(exchange()), identity()); }},
    {"an age stanza for an SSH key", use_ssh_key},
    {"an age stanza for an SSH key of RSA", use_ssh_rsa_key},
    {"an SSH key file", open_ssh_key_file},
    {"AES-CTR", [] { encrypt_ctr(Cipher::aes_256); }},
    {"AES-GCM", [] { seal_and_open(Cipher::aes_256); }},
    {"ChaCha20-Poly1305", [] { seal_and_open(Cipher::chacha20_poly1305); }},
    {"Kuznyechik in each width", encrypt_kuznyechik},
    {"the code of kernels", run_code_of_kernels},
    {"Kuznyechik-CTR", [] { encrypt_ctr(Cipher::kuznyechik); }},
    {"Kuznyechik-MGM", [] { seal_and_open(Cipher::kuznyechik); }},
};

// The reports about these in libcrypto can be told apart only if its functions have names.
const std::vector<Case> subjects_with_names{
    {"post-quantum recipients", use_post_quantum_key},
    {"tagged recipients", use_tagged_recipients},
};

volatile unsigned sink;

const std::vector<Case> controls{
    {"a table",
     [] {
       static std::array<unsigned char, 256> table{};
       sink = table[std::to_integer<unsigned>(make_secret(1).bytes()[0])];
     }},
    {"a branch",
     [] {
       if (make_secret(1).bytes()[0] == std::byte{1}) sink = 1;
     }},
    {"an early return",
     [] {
       const Secret a = make_secret(16), b = make_secret(16);
       if (std::ranges::equal(a.bytes(), b.bytes())) sink = 1;
     }},
    {"the table of Kuznyechik",
     [] {
       const Secret key = make_secret(32);
       const kuznyechik::RoundKeys keys = kuznyechik::expand_key(key.bytes());
       sink = kuznyechik::encrypt(keys, kuznyechik::Block{})[0];
     }},
    {"scrypt", [] { (void)scrypt(make_secret(16).bytes(), Bytes(8), 4, 8, 1, 32); }},
    {"bcrypt", [] { (void)bcrypt_pbkdf(make_secret(16).bytes(), Bytes(8), 1, 32); }},
};

// What takes a time that depends on secrets, although Memcheck does not report it.
const std::vector<Case> unseen{
    {"a division", [] { sink = 1000U / (std::to_integer<unsigned>(make_secret(1).bytes()[0]) | 1); }},
};

unsigned reports_of(const Case& each) {
  const unsigned before = VALGRIND_COUNT_ERRORS;
  each.run();
  return VALGRIND_COUNT_ERRORS - before;
}

bool have_no_reports(const std::vector<Case>& cases) {
  bool passed = true;
  for (const Case& each : cases) {
    const unsigned reports = reports_of(each);
    if (reports > 0) std::printf("failed: %s: %u reports\n", each.name, reports);
    passed &= reports == 0;
  }
  return passed;
}

int check(bool has_names) {
  if (RUNNING_ON_VALGRIND == 0) {
    std::puts("skipped: Memcheck does not run this");
    return 77;
  }
  bool passed = have_no_reports(subjects) && have_no_reports(unseen);
  std::size_t fired = 0;
  for (const Case& each : controls) {
    const bool reported = reports_of(each) > 0;
    if (!reported) std::printf("failed: %s: no report\n", each.name);
    fired += reported ? 1 : 0;
  }
  if (has_names) passed &= have_no_reports(subjects_with_names);  // last: they poison libcrypto's generator
  std::printf("%u secrets poisoned, %zu of %zu controls fired\n", secrets, fired, controls.size());
  return passed && fired == controls.size() ? 0 : 1;
}

}  // namespace
}  // namespace gpuaes

// An argument means that the functions of libcrypto have names.
int main(int argc, char**) {
  return gpuaes::check(argc > 1);
}
