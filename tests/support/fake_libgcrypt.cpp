// libgcrypt.so.20 for tests. It calls the library whose path is in LIBGCRYPT, except as FAKE says:
//   old, fips                the version is too old; FIPS mode is on
//   setuid                   when it is loaded, root's process gets another real user, as in a setuid program
//   full                     when it is loaded, the process can open no more files
//   wrong                    encryption and decryption change the last byte of each output
//   NAME COUNT               the function gcry_NAME fails after COUNT calls
// It makes the file `loaded` in the current directory.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

using Status = unsigned;
constexpr Status general_error = 1;

const std::string fake = std::getenv("FAKE") == nullptr ? "" : std::getenv("FAKE");

template <class Function>
Function* real(const char* name, Function*) {
  static void* const library = dlopen(std::getenv("LIBGCRYPT"), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Whether this call of a function is to fail.
bool fails(const std::string& function) {
  static std::atomic<long> calls{0};
  std::istringstream words(fake);
  std::string name;
  long count = 0;
  words >> name >> count;
  return "gcry_" + name == function && ++calls > count;
}

template <class Result, class... Parameters, class... Arguments>
Result forward(const char* name, Result (*self)(Parameters...), Arguments... arguments) {
  return real(name, self)(arguments...);
}

bool load() {
  close(open("loaded", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  constexpr uid_t nobody = 65534;
  if (fake == "setuid" && setresuid(nobody, 0, 0) != 0) _exit(1);
  constexpr rlimit limit{3, 3};  // descriptors that are open stay open
  if (fake == "full" && setrlimit(RLIMIT_NOFILE, &limit) != 0) _exit(1);
  return true;
}

[[maybe_unused]] const bool loaded = load();

void spoil(void* out, std::size_t size) {
  if (fake == "wrong" && size > 0) static_cast<unsigned char*>(out)[size - 1] ^= 1;
}

}  // namespace

extern "C" {

const char* gcry_check_version(const char* minimum) {
  return fake == "old" ? nullptr : forward(__func__, gcry_check_version, minimum);
}

Status gcry_control(int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  const auto value = va_arg(arguments, unsigned);
  va_end(arguments);
  constexpr int fips_mode = 55;
  if (fake == "fips" && command == fips_mode) return general_error;
  return real(__func__, gcry_control)(command, value, 0);
}

char* gcry_get_config(int mode, const char* what) {
  return forward(__func__, gcry_get_config, mode, what);
}

void gcry_free(void* memory) {
  forward(__func__, gcry_free, memory);
}

const char* gcry_strerror(Status) {
  return "planted failure";
}

Status gcry_cipher_open(void** handle, int algorithm, int mode, unsigned flags) {
  return fails(__func__) ? general_error
                         : forward(__func__, gcry_cipher_open, handle, algorithm, mode, flags);
}

void gcry_cipher_close(void* handle) {
  forward(__func__, gcry_cipher_close, handle);
}

Status gcry_cipher_setkey(void* handle, const void* key, std::size_t size) {
  return fails(__func__) ? general_error : forward(__func__, gcry_cipher_setkey, handle, key, size);
}

Status gcry_cipher_setiv(void* handle, const void* iv, std::size_t size) {
  return fails(__func__) ? general_error : forward(__func__, gcry_cipher_setiv, handle, iv, size);
}

Status gcry_cipher_setctr(void* handle, const void* counter, std::size_t size) {
  return fails(__func__) ? general_error : forward(__func__, gcry_cipher_setctr, handle, counter, size);
}

Status gcry_cipher_authenticate(void* handle, const void* aad, std::size_t size) {
  return fails(__func__) ? general_error : forward(__func__, gcry_cipher_authenticate, handle, aad, size);
}

Status gcry_cipher_encrypt(void* handle, void* out, std::size_t out_size, const void* in, std::size_t size) {
  if (fails(__func__)) return general_error;
  const Status status = forward(__func__, gcry_cipher_encrypt, handle, out, out_size, in, size);
  spoil(out, size);
  return status;
}

Status gcry_cipher_decrypt(void* handle, void* out, std::size_t out_size, const void* in, std::size_t size) {
  if (fails(__func__)) return general_error;
  const Status status = forward(__func__, gcry_cipher_decrypt, handle, out, out_size, in, size);
  spoil(out, size);
  return status;
}

Status gcry_cipher_gettag(void* handle, void* tag, std::size_t size) {
  return fails(__func__) ? general_error : forward(__func__, gcry_cipher_gettag, handle, tag, size);
}

Status gcry_cipher_checktag(void* handle, const void* tag, std::size_t size) {
  return fails(__func__) ? general_error : forward(__func__, gcry_cipher_checktag, handle, tag, size);
}

}  // extern "C"
