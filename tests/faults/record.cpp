#include "record.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>

namespace faults {
namespace {

struct Fault {
  char name[sizeof Entry::name] = "";
  std::uint64_t nth = 0;
  bool onward = false;
};

constexpr std::size_t max_faults = 16, max_files = 64;

struct State {
  Entry* entries = nullptr;
  std::size_t capacity = 0;
  std::mutex mutex;  // held while adding an entry, a file or a name
  Fault faults[max_faults];
  std::size_t fault_count = 0;
  struct stat files[max_files] = {};  // synced files
  std::size_t file_count = 0;
  char named[sizeof Entry::named] = "";
  ElfW(Addr) code = 0;  // where the program's code begins and ends
  ElfW(Addr) code_end = 0;

  Entry* find(const char* wanted) {
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < capacity; ++i) {
      if (entries[i].name[0] == '\0') strncpy(entries[i].name, wanted, sizeof Entry::name - 1);
      if (strcmp(entries[i].name, wanted) == 0) return &entries[i];
    }
    return nullptr;
  }
};

constinit State state;

void read_faults(const char* text) {
  while (state.fault_count < max_faults) {
    const char* const colon = strchr(text, ':');
    if (colon == nullptr || static_cast<std::size_t>(colon - text) >= sizeof Fault::name) return;
    Fault& fault = state.faults[state.fault_count++];
    memcpy(fault.name, text, static_cast<std::size_t>(colon - text));
    char* end = nullptr;
    fault.nth = strtoull(colon + 1, &end, 10);
    fault.onward = *end == '+';
    const char* const comma = strchr(end, ',');
    if (comma == nullptr) return;
    text = comma + 1;
  }
}

bool is_due(const char* name, std::uint64_t call, int descriptor) {
  for (std::size_t i = 0; i < state.fault_count; ++i) {
    const Fault& fault = state.faults[i];
    if (strcmp(name, fault.name) != 0) continue;
    if (call == fault.nth || (call > fault.nth && fault.onward && descriptor != STDERR_FILENO)) return true;
  }
  return false;
}

// Makes system calls directly, because this library replaces the functions for them.
void map_record(const char* path) {
  const auto fd = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC));
  const long size = fd < 0 ? -1 : syscall(SYS_lseek, fd, 0L, SEEK_END);
  if (size <= 0) return;
  const long mapped = syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
  syscall(SYS_close, fd);
  if (mapped == -1) return;
  state.capacity = static_cast<std::size_t>(size) / sizeof(Entry);
  state.entries = reinterpret_cast<Entry*>(mapped);
}

// The dynamic linker lists the program first.
int find_program(dl_phdr_info* object, std::size_t, void*) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    state.code = object->dlpi_addr + segment.p_vaddr;
    state.code_end = state.code + segment.p_memsz;
  }
  return 1;
}

// The number of this file among the synced ones, or -1.
std::int64_t number_of_file(const struct stat& file) {
  for (std::size_t i = 0; i < state.file_count; ++i)
    if (state.files[i].st_dev == file.st_dev && state.files[i].st_ino == file.st_ino)
      return static_cast<std::int64_t>(i);
  return -1;
}

void describe_history(Entry& entry, int descriptor) {
  const std::lock_guard lock(state.mutex);
  struct stat file {};
  const bool is_open = descriptor >= 0 && syscall(SYS_fstat, descriptor, &file) == 0;
  entry.synced = state.file_count;
  entry.target = is_open ? number_of_file(file) : -1;
  memcpy(entry.named, state.named, sizeof entry.named);
}

void describe(Entry& entry, int descriptor, const char* path) {
  char link[32];
  char target[200] = "";
  if (descriptor >= 0) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    syscall(SYS_readlinkat, AT_FDCWD, link, target, sizeof target - 1);
    const long flags = syscall(SYS_fcntl, descriptor, F_GETFL);
    const bool at_begin = syscall(SYS_lseek, descriptor, 0, SEEK_CUR) == 0;  // false for pipes
    const char* const use = (flags & O_ACCMODE) == O_RDONLY ? "reading" : at_begin ? "checking" : "writing";
    snprintf(entry.where, sizeof entry.where, "%d %s %s", descriptor, use, target);
  } else if (path != nullptr) {
    snprintf(entry.where, sizeof entry.where, "%s", path);
  }
}

}  // namespace

void begin() {
  const char* const record = getenv("FAULTS_RECORD");
  const char* const fault = getenv("FAULTS_AT");
  dl_iterate_phdr(find_program, nullptr);
  if (fault != nullptr) read_faults(fault);
  if (record != nullptr) map_record(record);
}

bool is_program(const void* address) {
  const auto at = reinterpret_cast<ElfW(Addr)>(address);
  return at >= state.code && at < state.code_end;
}

bool hits(const char* name, int descriptor, const char* path) {
  if (state.entries == nullptr) return false;
  Entry* const entry = state.find(name);
  if (entry == nullptr) return false;
  if (!is_due(name, ++entry->calls, descriptor)) return false;
  if (entry->injected++ == 0) {
    describe(*entry, descriptor, path);
    describe_history(*entry, descriptor);
  }
  return true;
}

void note_synced(int descriptor) {
  struct stat file {};
  const long flags = syscall(SYS_fcntl, descriptor, F_GETFL);
  if ((flags & O_ACCMODE) == O_RDONLY || syscall(SYS_fstat, descriptor, &file) != 0) return;
  const std::lock_guard lock(state.mutex);
  if (state.file_count < max_files && number_of_file(file) < 0) state.files[state.file_count++] = file;
}

void note_named(const char* path) {
  const char* const slash = strrchr(path, '/');
  const char* const base = slash == nullptr ? path : slash + 1;
  if (base[0] == '.') return;
  const std::lock_guard lock(state.mutex);
  const std::size_t used = strlen(state.named);
  if (used + strlen(base) + 2 <= sizeof state.named)
    snprintf(state.named + used, sizeof state.named - used, "%s,", base);
}

void* find_next(const char* name) {
  using Find = void* (*)(void*, const char*);
  static const auto find = reinterpret_cast<Find>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"));
  return find(RTLD_NEXT, name);
}

}  // namespace faults
