#include "cipher/modes/aead.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace gpuaes {
namespace {

static_assert(std::ranges::all_of(ciphers,
                                  [](const CipherInfo& each) {
                                    return each.aead.nonce_bytes <= Nonce().bytes.size();
                                  }),
              "a nonce is longer than Nonce");

constexpr auto check = check_call<LaneError>;

// `update` is EVP_EncryptUpdate or EVP_DecryptUpdate. If `out` is null, `in` is associated data.
template <class Update>
void feed(Update update, const char* call, EVP_CIPHER_CTX* context, std::span<const std::byte> in,
          std::byte* out) {
  int size = 0;
  if (!in.empty())
    check(update(context, reinterpret_cast<unsigned char*>(out), &size, octets(in.data()),
                 static_cast<int>(in.size())) == 1,
          call);
}

}  // namespace

EvpAead::EvpAead(Cipher cipher, std::span<const std::byte> key, Use use) : context_(EVP_CIPHER_CTX_new()) {
  if (key.size() != info(cipher).key_bytes)
    throw LaneError(fmt::format("{} requires a key of {} bytes, not {}", info(cipher).name,
                                info(cipher).key_bytes, key.size()));
  if (info(cipher).aead.libcrypto == nullptr) refuse_cipher(cipher);
  check(context_ != nullptr, "EVP_CIPHER_CTX_new");
  const EvpCipher algorithm = fetch_cipher<LaneError>(info(cipher).aead.libcrypto);
  check(EVP_CipherInit_ex2(context_.get(), algorithm.get(), octets(key.data()), nullptr,
                           use == Use::seal ? 1 : 0, nullptr) == 1,
        "EVP_CipherInit_ex2");
}

void EvpAead::seal(const Nonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> plain,
                   std::span<std::byte> ciphertext, std::span<std::byte> tag) {
  EVP_CIPHER_CTX* const context = context_.get();
  check(EVP_EncryptInit_ex2(context, nullptr, nullptr, nonce.bytes.data(), nullptr) == 1,
        "EVP_EncryptInit_ex2");
  feed(EVP_EncryptUpdate, "EVP_EncryptUpdate", context, aad, nullptr);
  feed(EVP_EncryptUpdate, "EVP_EncryptUpdate", context, plain, ciphertext.data());
  int none = 0;
  check(EVP_EncryptFinal_ex(context, octets(tag.data()), &none) == 1, "EVP_EncryptFinal_ex");
  check(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, tag_bytes, tag.data()) == 1,
        "EVP_CIPHER_CTX_ctrl");
}

bool EvpAead::open(const Nonce& nonce, std::span<const std::byte> aad, std::span<const std::byte> ciphertext,
                   std::span<const std::byte> tag, std::span<std::byte> plain) {
  EVP_CIPHER_CTX* const context = context_.get();
  check(EVP_DecryptInit_ex2(context, nullptr, nullptr, nonce.bytes.data(), nullptr) == 1,
        "EVP_DecryptInit_ex2");
  feed(EVP_DecryptUpdate, "EVP_DecryptUpdate", context, aad, nullptr);
  feed(EVP_DecryptUpdate, "EVP_DecryptUpdate", context, ciphertext, plain.data());
  check(
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, tag_bytes, const_cast<std::byte*>(tag.data())) == 1,
      "EVP_CIPHER_CTX_ctrl");
  int none = 0;
  unsigned char nothing[tag_bytes];
  if (EVP_DecryptFinal_ex(context, nothing, &none) == 1) return true;
  ERR_clear_error();
  return false;
}

}  // namespace gpuaes
