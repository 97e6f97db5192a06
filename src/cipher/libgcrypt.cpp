#include "cipher/libgcrypt.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/provider.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>

#include "base/error.hpp"
#include "cipher/modes/segments.hpp"

namespace gpuaes {
namespace {

using Status = unsigned;  // gcry_error_t: 0 for success; the lower 16 bits are the code
constexpr Status code_mask = 0xffff, wrong_tag = 10;  // GPG_ERR_CHECKSUM

struct Handle;  // gcry_cipher_handle

// Values of gcrypt.h, which is not needed to build the program.
enum Control {
  init_secmem = 24,
  disable_secmem_warning = 27,
  initialization_finished = 38,
  fips_mode = 55,
  disable_priv_drop = 68
};
constexpr unsigned secure_flag = 1;

// The functions of libgcrypt.so.20 that have these names after gcry_.
struct Functions {
  const char* (*check_version)(const char* minimum);
  Status (*control)(Control command, ...);
  char* (*get_config)(int mode, const char* what);
  void (*free)(void* memory);
  const char* (*strerror)(Status status);
  Status (*cipher_open)(Handle** handle, int algorithm, int mode, unsigned flags);
  void (*cipher_close)(Handle* handle);
  Status (*cipher_setkey)(Handle* handle, const void* key, std::size_t size);
  Status (*cipher_setiv)(Handle* handle, const void* iv, std::size_t size);
  Status (*cipher_setctr)(Handle* handle, const void* counter, std::size_t size);
  Status (*cipher_authenticate)(Handle* handle, const void* aad, std::size_t size);
  Status (*cipher_encrypt)(Handle* handle, void* out, std::size_t out_size, const void* in, std::size_t size);
  Status (*cipher_decrypt)(Handle* handle, void* out, std::size_t out_size, const void* in, std::size_t size);
  Status (*cipher_gettag)(Handle* handle, void* tag, std::size_t size);
  Status (*cipher_checktag)(Handle* handle, const void* tag, std::size_t size);
};

// If this fails for any reason other than a missing or forbidden file, for example for lack of descriptors,
// check_version() calls abort().
bool can_open_fips_setting() {
  const int fd = open("/proc/sys/crypto/fips_enabled", O_RDONLY | O_CLOEXEC);
  const int error = errno;
  if (fd >= 0) close(fd);
  return fd >= 0 || error == ENOENT || error == EACCES;
}

// Someone who configures another provider, such as a certified one, wants its code to do the work.
bool libcrypto_uses_its_own_code() {
  const std::unique_ptr<EVP_CIPHER, void (*)(EVP_CIPHER*)> cipher(
      EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr), EVP_CIPHER_free);
  return cipher != nullptr &&
         std::string_view(OSSL_PROVIDER_get0_name(EVP_CIPHER_get0_provider(cipher.get()))) == "default";
}

class Library {
 public:
  // Not in a program that has more privileges than its caller: it reads variables of the environment.
  Library() : file_(getauxval(AT_SECURE) != 0 ? nullptr : dlopen("libgcrypt.so.20", RTLD_NOW | RTLD_LOCAL)) {
    if (file_ == nullptr || !libcrypto_uses_its_own_code() || !find_functions() || !can_open_fips_setting())
      return;
    const char* const version = call.check_version("1.10.0");
    if (version == nullptr || call.control(fips_mode, 0) != 0) return;
    constexpr unsigned bytes_per_thread = 4 << 10;  // a key takes 2 KiB
    call.control(disable_secmem_warning);
    call.control(disable_priv_drop);  // init_secmem would call setuid(getuid())
    call.control(init_secmem, std::max(std::thread::hardware_concurrency(), 8u) * bytes_per_thread, 0);
    call.control(initialization_finished, 0);
    version_ = version;
    char* const features = call.get_config(0, "hwflist");
    if (features != nullptr) features_ = features;
    call.free(features);
  }

  const std::string& version() const { return version_; }

  // Whether it uses the CPU's instructions for AES and for GHASH. Its other code uses tables, so it is not
  // constant-time.
  bool has_aes_instructions() const {
    return (has_feature("intel-aesni") && has_feature("intel-pclmul")) ||
           (has_feature("arm-aes") && has_feature("arm-pmull"));
  }

  void check(Status status, const char* function) const {
    if (status != 0) throw LaneError(fmt::format("libgcrypt: {}: {}", function, call.strerror(status)));
  }

  Functions call{};

 private:
  bool find_functions() {
    const auto find = [this](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file_, name));
      return function != nullptr;
    };
    return find("gcry_check_version", call.check_version) && find("gcry_control", call.control) &&
           find("gcry_get_config", call.get_config) && find("gcry_free", call.free) &&
           find("gcry_strerror", call.strerror) && find("gcry_cipher_open", call.cipher_open) &&
           find("gcry_cipher_close", call.cipher_close) && find("gcry_cipher_setkey", call.cipher_setkey) &&
           find("gcry_cipher_setiv", call.cipher_setiv) && find("gcry_cipher_setctr", call.cipher_setctr) &&
           find("gcry_cipher_authenticate", call.cipher_authenticate) &&
           find("gcry_cipher_encrypt", call.cipher_encrypt) &&
           find("gcry_cipher_decrypt", call.cipher_decrypt) &&
           find("gcry_cipher_gettag", call.cipher_gettag) &&
           find("gcry_cipher_checktag", call.cipher_checktag);
  }

  // `features` is a list like "hwflist:intel-aesni:intel-avx2:".
  bool has_feature(std::string_view feature) const {
    return features_.find(fmt::format(":{}:", feature)) != std::string::npos;
  }

  void* const file_;
  std::string version_, features_;
};

// Never unloaded.
const Library& library() {
  static const Library loaded;
  return loaded;
}

class LibgcryptCipher : public CpuCipher {
 public:
  LibgcryptCipher(const LibgcryptName& name, std::span<const std::byte> key) {
    library_.check(call_.cipher_open(&handle_, name.algorithm, name.mode, secure_flag), "gcry_cipher_open");
    const Status status = call_.cipher_setkey(handle_, key.data(), key.size());
    if (status != 0) call_.cipher_close(handle_);
    library_.check(status, "gcry_cipher_setkey");
  }
  LibgcryptCipher(const LibgcryptCipher&) = delete;
  LibgcryptCipher& operator=(const LibgcryptCipher&) = delete;
  ~LibgcryptCipher() override { call_.cipher_close(handle_); }  // also wipes it

  std::optional<std::size_t> run(const Job& job) override {
    switch (job.operation) {
      case Operation::ctr:
        library_.check(call_.cipher_setctr(handle_, job.counter.data(), job.counter.size()),
                       "gcry_cipher_setctr");
        encrypt(job.in, job.out);
        return std::nullopt;
      case Operation::seal:
        seal_segments(job, [&](const auto& segment) {
          begin(segment.nonce, job.aad);
          encrypt(segment.plain, segment.ciphertext());
          library_.check(call_.cipher_gettag(handle_, segment.tag().data(), segment.tag().size()),
                         "gcry_cipher_gettag");
        });
        return std::nullopt;
      case Operation::open:
        return open_segments(job, [&](const auto& segment) {
          begin(segment.nonce, job.aad);
          decrypt(segment.ciphertext(), segment.plain);
          const Status status = call_.cipher_checktag(handle_, segment.tag().data(), segment.tag().size());
          if ((status & code_mask) == wrong_tag) return false;
          library_.check(status, "gcry_cipher_checktag");
          return true;
        });
    }
    refuse_cipher(job.key->cipher);
  }

 private:
  void begin(const Nonce& nonce, std::span<const std::byte> aad) {
    library_.check(call_.cipher_setiv(handle_, nonce.bytes.data(), nonce.size), "gcry_cipher_setiv");
    if (!aad.empty())
      library_.check(call_.cipher_authenticate(handle_, aad.data(), aad.size()), "gcry_cipher_authenticate");
  }

  void encrypt(std::span<const std::byte> in, std::span<std::byte> out) {
    if (!in.empty())
      library_.check(call_.cipher_encrypt(handle_, out.data(), out.size(), in.data(), in.size()),
                     "gcry_cipher_encrypt");
  }

  void decrypt(std::span<const std::byte> in, std::span<std::byte> out) {
    if (!in.empty())
      library_.check(call_.cipher_decrypt(handle_, out.data(), out.size(), in.data(), in.size()),
                     "gcry_cipher_decrypt");
  }

  const Library& library_ = library();
  const Functions& call_ = library_.call;
  Handle* handle_ = nullptr;
};

}  // namespace

const std::string& libgcrypt_version() {
  return library().version();
}

std::unique_ptr<CpuCipher> make_libgcrypt_cipher(const Job& job) {
  const CipherInfo& row = info(job.key->cipher);
  const bool ctr = job.operation == Operation::ctr;
  const std::optional<LibgcryptName> name = !ctr      ? row.aead.libgcrypt
                                            : row.ctr ? row.ctr->libgcrypt
                                                      : std::nullopt;
  if (!name || libgcrypt_version().empty()) return nullptr;
  if (row.family == Family::aes && !library().has_aes_instructions()) return nullptr;
  if (!ctr) check_nonce(job);
  return std::make_unique<LibgcryptCipher>(*name, job.key->bytes.bytes());
}

}  // namespace gpuaes
