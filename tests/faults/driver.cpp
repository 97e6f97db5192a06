// A CUDA driver that fails. The CUDA runtime, which is linked into the program, gets the driver's functions
// through dlsym() and cuGetProcAddress(). Both are replaced here and return thunks, which count the calls and
// inject the fault. The fault is named after the function; FAULTS_CUDA_ERROR is the error that it returns.
//
// A fault for one call (NAME:N) only returns the error. A fault from one call on (NAME:N+) simulates a device
// that dies: this call and all later ones that use the context fail, whatever their function. A dead device
// no longer writes to memory, so first all calls in progress return and the device finishes its work.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string_view>
#include <utility>

#include "record.hpp"

namespace {

// No driver function takes more arguments than this, and functions that take floating-point numbers get no
// thunk. A thunk that passes on more arguments than it got harmlessly reads words of its caller's stack.
using Word = std::uintptr_t;
using Function = Word (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);
using Synchronize = int (*)();
using GetProcAddress = int (*)(const char*, void**, int, std::uint64_t, void*);  // of version 2

constexpr std::size_t max_functions = 1024;

struct Wrapped {
  char name[sizeof faults::Entry::name];
  Function real;
};

std::array<Wrapped, max_functions> wrapped;
std::size_t wrapped_count = 0;
std::mutex wrapped_mutex;  // held while adding one

// The versions of cuGetProcAddress() that have a thunk.
constexpr std::size_t max_finders = 4;
std::array<std::atomic<void*>, max_finders> finders{};

Synchronize real_synchronize = nullptr;

// Calls hold it shared, die() exclusively. Writers have priority, so die() does not wait for new calls.
pthread_rwlock_t calls = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
std::atomic<bool> dead = false;

int error_code() {
  const char* const text = getenv("FAULTS_CUDA_ERROR");
  return text != nullptr ? atoi(text) : 719;
}

bool is_fatal() {
  static const bool onward = [] {
    const char* const fault = getenv("FAULTS_AT");
    return fault != nullptr && strchr(fault, '+') != nullptr;
  }();
  return onward;
}

void die() {
  pthread_rwlock_wrlock(&calls);
  if (!dead && real_synchronize != nullptr) real_synchronize();
  dead = true;
  pthread_rwlock_unlock(&calls);
}

// Driver functions that call other driver functions count as one call.
template <class... Words>
Word call(const Wrapped& function, Words... words) {
  static const auto error = static_cast<Word>(error_code());
  static thread_local bool in_call = false;
  if (in_call) return function.real(words...);
  if (faults::hits(function.name)) {
    if (is_fatal()) die();
    return error;
  }
  pthread_rwlock_rdlock(&calls);
  in_call = true;
  const Word result = dead ? error : function.real(words...);
  in_call = false;
  pthread_rwlock_unlock(&calls);
  return result;
}

template <std::size_t index>
Word thunk(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j, Word k, Word l) {
  return call(wrapped[index], a, b, c, d, e, f, g, h, i, j, k, l);
}

constexpr auto thunks = []<std::size_t... indexes>(std::index_sequence<indexes...>) {
  return std::array<Function, sizeof...(indexes)>{thunk<indexes>...};
}
(std::make_index_sequence<max_functions>());

// Prefixes of functions that still work on a dead context, or take floating-point numbers.
constexpr std::string_view passed_on[] = {"cuGetError",
                                          "cuGetExportTable",
                                          "cuDriverGetVersion",
                                          "cuDeviceGet",
                                          "cuDevicePrimaryCtxGetState",
                                          "cuCtxGetCurrent",
                                          "cuCtxGetDevice",
                                          "cuCtxSetCurrent",
                                          "cuCtxPushCurrent",
                                          "cuCtxPopCurrent",
                                          "cuThreadExchangeStreamCaptureMode",
                                          "cuTexRef"};

// The thunk of a driver function, or the function itself if it needs none.
void* wrap(const char* name, void* real) {
  for (const std::string_view prefix : passed_on)
    if (std::string_view(name).starts_with(prefix)) return real;
  const auto function = reinterpret_cast<Function>(real);
  const bool is_thunk = std::find(thunks.begin(), thunks.end(), function) != thunks.end();
  if (is_thunk || strlen(name) >= sizeof Wrapped::name) return real;
  const std::lock_guard lock(wrapped_mutex);
  std::size_t i = 0;
  while (i < wrapped_count && (wrapped[i].real != function || strcmp(wrapped[i].name, name) != 0)) ++i;
  if (i == max_functions) return real;
  if (i == wrapped_count) {
    strcpy(wrapped[i].name, name);
    wrapped[i].real = function;
    ++wrapped_count;
  }
  return reinterpret_cast<void*>(thunks[i]);
}

void* hand_out(const char* name, void* real);

// Version 1 takes four arguments and ignores the fifth.
template <std::size_t index>
int get_proc_address(const char* name, void** function, int version, std::uint64_t flags, void* found) {
  faults::hits("cuGetProcAddress");
  const auto real = reinterpret_cast<GetProcAddress>(finders[index].load());
  const int result = real(name, function, version, flags, found);
  if (result == 0 && function != nullptr && *function != nullptr) *function = hand_out(name, *function);
  return result;
}

constexpr std::array<GetProcAddress, max_finders> finder_thunks{get_proc_address<0>, get_proc_address<1>,
                                                                get_proc_address<2>, get_proc_address<3>};

void* wrap_finder(void* real) {
  const auto function = reinterpret_cast<GetProcAddress>(real);
  if (std::find(finder_thunks.begin(), finder_thunks.end(), function) != finder_thunks.end()) return real;
  for (std::size_t i = 0; i < max_finders; ++i) {
    void* none = nullptr;
    if (finders[i].compare_exchange_strong(none, real) || none == real)
      return reinterpret_cast<void*>(finder_thunks[i]);
  }
  return real;
}

void* hand_out(const char* name, void* real) {
  return std::string_view(name).starts_with("cuGetProcAddress") ? wrap_finder(real) : wrap(name, real);
}

}  // namespace

// For RTLD_NEXT the real dlsym() looks at its caller, so it is called last: the compiler makes that a jump,
// which keeps the caller.
extern "C" __attribute__((optimize("O2"))) void* replaced_dlsym(void* handle,
                                                                const char* name) __asm__("dlsym");
void* replaced_dlsym(void* handle, const char* name) {
  using Find = void* (*)(void*, const char*);
  static const auto real = reinterpret_cast<Find>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"));
  const bool of_driver = name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
  if (!of_driver) return real(handle, name);
  faults::hits("dlsym");
  void* const found = real(handle, name);
  if (found == nullptr) return nullptr;
  if (real_synchronize == nullptr)
    real_synchronize = reinterpret_cast<Synchronize>(real(handle, "cuCtxSynchronize"));
  return hand_out(name, found);
}
