#include "cipher/modes/aead.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "cipher/modes/mgm_cpu.hpp"
#include "cipher/modes/segments.hpp"

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

class LibcryptoAead : public Aead {
 public:
  explicit LibcryptoAead(const Job& job)
      : aead_(job.key->cipher, job.key->bytes.bytes(),
              job.operation == Operation::seal ? EvpAead::Use::seal : EvpAead::Use::open) {}

  void seal(const Job& job) override {
    seal_segments(job, [&](const auto& segment) {
      aead_.seal(segment.nonce, job.aad, segment.plain, segment.ciphertext(), segment.tag());
    });
  }

  std::optional<std::size_t> open(const Job& job) override {
    return open_segments(job, [&](const auto& segment) {
      return aead_.open(segment.nonce, job.aad, segment.ciphertext(), segment.tag(), segment.plain);
    });
  }

 private:
  EvpAead aead_;
};

class KuznyechikMgm : public Aead {
 public:
  explicit KuznyechikMgm(const Job& job) : mgm_(job.key->bytes.bytes()) {}

  void seal(const Job& job) override {
    process_in_batches(job, segment_to_seal, [&](const auto& segments) {
      mgm_.seal(job.aad, segments);
      return std::nullopt;
    });
  }

  std::optional<std::size_t> open(const Job& job) override {
    return process_in_batches(job, segment_to_open,
                              [&](const auto& segments) { return mgm_.open(job.aad, segments); });
  }

 private:
  // Calls `process` for batches of segments made by `prepare`, as many as MgmCpu takes at a time, until it
  // returns the index of a bad segment in its batch. Returns the index of that segment in the job, if any.
  template <class Prepare, class Process>
  static std::optional<std::size_t> process_in_batches(const Job& job, Prepare prepare, Process process) {
    using Each = decltype(prepare(job, 0));
    std::array<Each, MgmCpu::max_segments> segments;
    const std::size_t count = count_segments(job);
    for (std::size_t first = 0; first < count; first += segments.size()) {
      const std::size_t batch = std::min(count - first, segments.size());
      for (std::size_t i = 0; i < batch; ++i) segments[i] = prepare(job, first + i);
      const std::optional<std::size_t> bad = process(std::span<const Each>(segments).first(batch));
      if (bad) return first + *bad;
    }
    return std::nullopt;
  }

  MgmCpu mgm_;
};

}  // namespace

std::unique_ptr<Aead> make_aead(const Job& job) {
  check_nonce(job);
  const CipherInfo& row = info(job.key->cipher);
  if (row.aead.libcrypto != nullptr) return std::make_unique<LibcryptoAead>(job);
  switch (row.family) {
    case Family::aes:
    case Family::chacha20:
      break;
    case Family::kuznyechik:
      return std::make_unique<KuznyechikMgm>(job);
  }
  refuse_cipher(job.key->cipher);
}

bool open_as_last(const Job& job, std::size_t index, std::span<std::byte> plain) {
  Job last = job;
  last.in = segment_to_open(job, index).sealed;
  last.out = plain;
  last.first_segment += index;
  last.ends_message = true;
  return !make_aead(last)->open(last);
}

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
