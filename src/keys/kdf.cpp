#include "keys/kdf.hpp"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/libcrypto.hpp"
#include "base/public.hpp"
#include "base/random.hpp"
#include "keys/memory_turns.hpp"
#include "system/resources.hpp"

namespace gpuaes {
namespace {

enum class Hash { sha256, sha512 };

Secret hkdf(Hash hash, int mode, std::span<const std::byte> key, std::span<const std::byte> salt,
            std::span<const std::byte> info, std::size_t size) {
  const std::unique_ptr<EVP_KDF, void (*)(EVP_KDF*)> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr),
                                                         EVP_KDF_free);
  check_call(kdf != nullptr, "EVP_KDF_fetch");
  const std::unique_ptr<EVP_KDF_CTX, void (*)(EVP_KDF_CTX*)> context(EVP_KDF_CTX_new(kdf.get()),
                                                                     EVP_KDF_CTX_free);
  check_call(context != nullptr, "EVP_KDF_CTX_new");
  char digest[] = "SHA512";
  if (hash == Hash::sha256) std::ranges::copy("SHA256", digest);
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
                                   OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
                                   octet_parameter(OSSL_KDF_PARAM_KEY, key),
                                   octet_parameter(OSSL_KDF_PARAM_SALT, salt),
                                   octet_parameter(OSSL_KDF_PARAM_INFO, info),
                                   OSSL_PARAM_construct_end()};
  Secret out(size);
  check_call(EVP_KDF_derive(context.get(), octets(out.bytes().data()), size, parameters) == 1,
             "EVP_KDF_derive");
  return out;
}

template <std::size_t size>
std::array<std::byte, size> hmac(const EVP_MD* digest, std::span<const std::byte> key,
                                 std::span<const std::byte> message) {
  std::array<std::byte, size> mac;
  check_call(HMAC(digest, key.data(), static_cast<int>(key.size()), octets(message.data()), message.size(),
                  octets(mac.data()), nullptr) != nullptr,
             "HMAC");
  return mac;
}

// Runs `work` in another thread, because libcrypto cannot be interrupted. If `check_stop` throws, the thread
// is abandoned (the process is about to end), so it has its own copies of the passphrase and the salt.
template <class Work>
Secret derive(std::span<const std::byte> passphrase, std::span<const std::byte> salt,
              const StopCheck& check_stop, Work work) {
  std::packaged_task<Secret()> task(
      [work = std::move(work), passphrase = secret_of(passphrase),
       salt = std::vector<std::byte>(salt.begin(), salt.end())] { return work(passphrase.bytes(), salt); });
  std::future<Secret> derived = task.get_future();
  std::thread thread(std::move(task));
  try {
    bool ready = false;
    while (!ready) {
      ready = derived.wait_for(std::chrono::milliseconds(20)) == std::future_status::ready;
      if (check_stop) check_stop();
    }
  } catch (...) {
    thread.detach();
    throw;
  }
  thread.join();
  return derived.get();
}

constexpr std::uint64_t memory_margin = 2 << 20;  // page tables, stack

// The kernel kills a process that exceeds the limit of its control group, without a message.
void check_memory(std::uint64_t needed) {
  const std::uint64_t allowed = allowed_memory();
  if (allowed < needed + memory_margin)
    throw IoError(fmt::format("deriving a key from the passphrase requires {} MiB of memory, but only {} MiB "
                              "is available",
                              (needed + memory_margin) >> 20, allowed >> 20),
                  Advice::raise_memory_limit);
}

// Never destroyed: when the process ends, an abandoned thread may still have its turn.
MemoryTurns& memory_turns() {
  static auto* const turns = new MemoryTurns(available_memory);
  return *turns;
}

const char* characters(std::span<const std::byte> bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

}  // namespace

Secret random_secret(std::size_t size) {
  Secret secret(size);
  fill_random(secret.bytes());
  return secret;
}

bool is_equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && as_public(CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0);
}

bool has_prefix(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() && is_equal(bytes.first(text.size()), bytes_of(text));
}

Secret hkdf_sha512(std::span<const std::byte> input_key, std::span<const std::byte> salt,
                   std::span<const std::byte> info, std::size_t size) {
  return hkdf(Hash::sha512, EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND, input_key, salt, info, size);
}

Secret hkdf_expand_sha512(std::span<const std::byte> key, std::span<const std::byte> info, std::size_t size) {
  return hkdf(Hash::sha512, EVP_KDF_HKDF_MODE_EXPAND_ONLY, key, {}, info, size);
}

Secret hkdf_sha256(std::span<const std::byte> input_key, std::span<const std::byte> salt,
                   std::span<const std::byte> info, std::size_t size) {
  return hkdf(Hash::sha256, EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND, input_key, salt, info, size);
}

std::array<std::byte, 32> sha256(std::span<const std::byte> bytes) {
  std::array<std::byte, 32> hash;
  check_call(EVP_Digest(bytes.data(), bytes.size(), octets(hash.data()), nullptr, EVP_sha256(), nullptr) == 1,
             "EVP_Digest");
  return hash;
}

Secret hkdf_extract_sha256(std::span<const std::byte> salt, std::span<const std::byte> input_key) {
  return hkdf(Hash::sha256, EVP_KDF_HKDF_MODE_EXTRACT_ONLY, input_key, salt, {}, 32);
}

Secret hkdf_expand_sha256(std::span<const std::byte> key, std::span<const std::byte> info, std::size_t size) {
  return hkdf(Hash::sha256, EVP_KDF_HKDF_MODE_EXPAND_ONLY, key, {}, info, size);
}

Sha512::Sha512() : context_(EVP_MD_CTX_new()) {
  check_call(context_ != nullptr, "EVP_MD_CTX_new");
  check_call(EVP_DigestInit_ex(context_.get(), EVP_sha512(), nullptr) == 1, "EVP_DigestInit_ex");
}

void Sha512::add(std::span<const std::byte> bytes) {
  check_call(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "EVP_DigestUpdate");
}

std::array<std::byte, 64> Sha512::finish() {
  std::array<std::byte, 64> digest;
  check_call(EVP_DigestFinal_ex(context_.get(), octets(digest.data()), nullptr) == 1, "EVP_DigestFinal_ex");
  return digest;
}

std::array<std::byte, 64> hmac_sha512(std::span<const std::byte> key, std::span<const std::byte> message) {
  return hmac<64>(EVP_sha512(), key, message);
}

std::array<std::byte, 32> hmac_sha256(std::span<const std::byte> key, std::span<const std::byte> message) {
  return hmac<32>(EVP_sha256(), key, message);
}

Secret scrypt(std::span<const std::byte> passphrase, std::span<const std::byte> salt, unsigned log2_n,
              unsigned r, unsigned p, std::size_t size, const StopCheck& check_stop) {
  const std::uint64_t n = std::uint64_t{1} << log2_n;
  const std::uint64_t memory = std::uint64_t{128} * r * (n + p + 2);
  MemoryTurns::Turn turn = memory_turns().take(memory + memory_margin, check_stop);
  auto work = [=, turn = std::move(turn)](auto phrase, std::span<const std::byte> salt_copy) {
    check_memory(memory);
    Secret out(size);
    check_call(EVP_PBE_scrypt(characters(phrase), phrase.size(), octets(salt_copy.data()), salt_copy.size(),
                              n, r, p, memory, octets(out.bytes().data()), size) == 1,
               "EVP_PBE_scrypt");
    return out;
  };
  return derive(passphrase, salt, check_stop, std::move(work));
}

Secret pbkdf2_sha256(std::span<const std::byte> passphrase, std::span<const std::byte> salt,
                     std::uint32_t iterations, std::size_t size, const StopCheck& check_stop) {
  return derive(passphrase, salt, check_stop, [=](auto phrase, std::span<const std::byte> salt_copy) {
    Secret out(size);
    check_call(
        PKCS5_PBKDF2_HMAC(characters(phrase), static_cast<int>(phrase.size()), octets(salt_copy.data()),
                          static_cast<int>(salt_copy.size()), static_cast<int>(iterations), EVP_sha256(),
                          static_cast<int>(size), octets(out.bytes().data())) == 1,
        "PKCS5_PBKDF2_HMAC");
    return out;
  });
}

}  // namespace gpuaes
