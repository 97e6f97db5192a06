// System calls that fail or process only part of their data. Each function below replaces the C library's
// function of the same name, can fail with the faults that it lists, and otherwise makes the call. A fault is
// named CALL=ERROR or CALL=short.
//
// Calls that may block go to the C library, where threads can be canceled; others are made directly.
//
// The errors are those that the call reports in practice. Some mean that the file system or the kernel does
// not support something; scripts/faults.d/execution.py lists those that the program must tolerate.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "record.hpp"

// Defines NAME under another C++ name, because the headers declare NAME in ways that a definition cannot
// repeat.
#define CALL(result, name, ...)                                  \
  extern "C" result replaced_##name(__VA_ARGS__) __asm__(#name); \
  result replaced_##name(__VA_ARGS__)
#define SAME_CALL(alias_name, name)                                               \
  extern "C" decltype(replaced_##name) replaced_##alias_name __asm__(#alias_name) \
      __attribute__((alias(#name)));

namespace {

struct Target {
  Target(int fd) : descriptor(fd) {}
  Target(const char* name) : path(name) {}
  int descriptor = -1;
  const char* path = nullptr;
};

// The error to inject into this call, or 0. Counts the call for each fault.
int error_of(const char* call, Target target, std::initializer_list<int> errors) {
  int injected = 0;
  for (const int error : errors) {
    char name[sizeof faults::Entry::name];
    snprintf(name, sizeof name, "%s=%s", call, strerrorname_np(error));
    if (faults::hits(name, target.descriptor, target.path)) injected = error;
  }
  return injected;
}

bool fails(const char* call, Target target, std::initializer_list<int> errors) {
  const int error = error_of(call, target, errors);
  if (error != 0) errno = error;
  return error != 0;
}

// Makes the system call directly, unless it fails.
template <class... Arguments>
int make(const char* call, Target target, std::initializer_list<int> errors, long number,
         Arguments... arguments) {
  return fails(call, target, errors) ? -1 : static_cast<int>(syscall(number, arguments...));
}

// An eventfd, which threads use to wake each other, is only memory: reading and writing it cannot fail.
bool is_memory(int fd) {
  struct stat status {};
  return syscall(SYS_fstat, fd, &status) == 0 && (status.st_mode & S_IFMT) == 0;
}

// Half of `size` if a fault limits this call to part of its data.
size_t shortened(const char* call, int descriptor, size_t size) {
  char name[sizeof faults::Entry::name];
  snprintf(name, sizeof name, "%s=short", call);
  return size > 1 && faults::hits(name, descriptor) ? size / 2 : size;
}

template <class Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(faults::find_next(name));
}

// The result of a call that gave a file this name.
int named(const char* path, long result) {
  if (result == 0) faults::note_named(path);
  return static_cast<int>(result);
}

bool fails_to_open(const char* call, const char* path, int flags) {
  const bool nameless = (flags & O_TMPFILE) == O_TMPFILE && fails("O_TMPFILE", path, {EOPNOTSUPP});
  const bool direct = (flags & O_DIRECT) != 0 && fails("O_DIRECT", path, {EINVAL});
  return nameless || direct || fails(call, path, {EMFILE, EACCES});
}

}  // namespace

// Reading and writing ---------------------------------------------------------------------------

CALL(ssize_t, read, int fd, void* out, size_t size) {
  static const auto real = next(replaced_read, "read");
  if (is_memory(fd)) return real(fd, out, size);
  if (fails("read", fd, {EIO, EINTR})) return -1;
  return real(fd, out, shortened("read", fd, size));
}
CALL(ssize_t, __read_chk, int fd, void* out, size_t size, size_t) {
  return replaced_read(fd, out, size);
}

CALL(ssize_t, pread, int fd, void* out, size_t size, off_t at) {
  if (fails("pread", fd, {EIO, EINTR})) return -1;
  return syscall(SYS_pread64, fd, out, shortened("pread", fd, size), at);
}
SAME_CALL(pread64, pread)
CALL(ssize_t, __pread_chk, int fd, void* out, size_t size, off_t at, size_t) {
  return replaced_pread(fd, out, size, at);
}
SAME_CALL(__pread64_chk, __pread_chk)

// A short read fills only the first pieces of memory.
CALL(ssize_t, preadv, int fd, const iovec* memory, int count, off_t at) {
  if (fails("preadv", fd, {EIO, EINTR})) return -1;
  return syscall(SYS_preadv, fd, memory, shortened("preadv", fd, static_cast<size_t>(count)), at, 0);
}
SAME_CALL(preadv64, preadv)

CALL(ssize_t, write, int fd, const void* bytes, size_t size) {
  static const auto real = next(replaced_write, "write");
  if (is_memory(fd)) return real(fd, bytes, size);
  if (fails("write", fd, {EIO, ENOSPC, EINTR})) return -1;
  return real(fd, bytes, shortened("write", fd, size));
}

// A direct write, which may end after some pages, after a sector, or within the first piece of memory. A disk
// may have larger sectors, so a short write goes through the page cache.
CALL(ssize_t, writev, int fd, const iovec* memory, int count) {
  if (fails("writev", fd, {EIO, ENOSPC, EINTR, EINVAL, EOPNOTSUPP, ENOMEM, EAGAIN})) return -1;
  constexpr size_t page = 4096, sector = 512;
  size_t all = 0;
  for (int i = 0; i < count; ++i) all += memory[i].iov_len;
  size_t size = shortened("writev", fd, all);
  if (size < all && size > page) size -= size % page;
  if (faults::hits("writev_sector=short", fd)) size = std::min(all, sector);
  if (faults::hits("writev_first=short", fd)) size = (memory[0].iov_len + 1) / 2;
  if (size == all) return syscall(SYS_writev, fd, memory, count);
  std::vector<iovec> pieces;
  for (size_t left = size; left > 0; left -= pieces.back().iov_len, ++memory)
    pieces.push_back({memory->iov_base, std::min(left, memory->iov_len)});
  const long flags = syscall(SYS_fcntl, fd, F_GETFL);
  syscall(SYS_fcntl, fd, F_SETFL, flags & ~O_DIRECT);
  const long written = syscall(SYS_writev, fd, pieces.data(), pieces.size());
  syscall(SYS_fcntl, fd, F_SETFL, flags);
  return written;
}

CALL(ssize_t, pwrite, int fd, const void* bytes, size_t size, off_t at) {
  if (fails("pwrite", fd, {EIO, ENOSPC, EINTR})) return -1;
  return syscall(SYS_pwrite64, fd, bytes, shortened("pwrite", fd, size), at);
}
SAME_CALL(pwrite64, pwrite)

CALL(off_t, lseek, int fd, off_t offset, int whence) {
  return fails("lseek", fd, {EINVAL}) ? -1 : syscall(SYS_lseek, fd, offset, whence);
}
SAME_CALL(lseek64, lseek)

CALL(int, poll, pollfd* entries, nfds_t count, int timeout) {
  static const auto real = next(replaced_poll, "poll");
  return fails("poll", count > 0 ? entries->fd : -1, {EINTR, ENOMEM}) ? -1 : real(entries, count, timeout);
}
CALL(int, __poll_chk, pollfd* entries, nfds_t count, int timeout, size_t) {
  return replaced_poll(entries, count, timeout);
}

// Files -----------------------------------------------------------------------------------------

CALL(int, open, const char* path, int flags, mode_t mode) {
  if (fails_to_open("open", path, flags)) return -1;
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
SAME_CALL(open64, open)
CALL(int, __open_2, const char* path, int flags) {
  return replaced_open(path, flags, 0);
}
SAME_CALL(__open64_2, __open_2)

CALL(int, openat, int folder, const char* path, int flags, mode_t mode) {
  if (fails_to_open("openat", path, flags)) return -1;
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}
SAME_CALL(openat64, openat)
CALL(int, __openat_2, int folder, const char* path, int flags) {
  return replaced_openat(folder, path, flags, 0);
}
SAME_CALL(__openat64_2, __openat_2)

CALL(FILE*, fopen, const char* path, const char* mode) {
  static const auto real = next(replaced_fopen, "fopen");
  return fails("fopen", path, {EMFILE, EACCES}) ? nullptr : real(path, mode);
}
SAME_CALL(fopen64, fopen)

CALL(int, mkostemp, char* path, int flags) {
  static const auto real = next(replaced_mkostemp, "mkostemp");
  return fails("mkostemp", path, {EACCES, EMFILE}) ? -1 : real(path, flags);
}
SAME_CALL(mkostemp64, mkostemp)

// Linux closes the descriptor even if it reports an error.
CALL(int, close, int fd) {
  const bool failed = fails("close", fd, {EIO, EINTR});
  const int error = errno;
  const auto result = static_cast<int>(syscall(SYS_close, fd));
  if (!failed) return result;
  errno = error;
  return -1;
}

// The program is told that it may have lost data, or that the file system cannot sync.
#define SYNC_ERRORS \
  { EIO, ENOSPC, EDQUOT, ESTALE, EINVAL, EOPNOTSUPP, ENOSYS, EINTR }
CALL(int, fsync, int fd) {
  if (fails("fsync", fd, SYNC_ERRORS) || syscall(SYS_fsync, fd) != 0) return -1;
  return faults::note_synced(fd), 0;
}
CALL(int, fdatasync, int fd) {
  if (fails("fdatasync", fd, SYNC_ERRORS) || syscall(SYS_fdatasync, fd) != 0) return -1;
  return faults::note_synced(fd), 0;
}
CALL(int, sync_file_range, int fd, off_t offset, off_t bytes, unsigned flags) {
  return make("sync_file_range", fd, {ENOSYS}, SYS_sync_file_range, fd, offset, bytes, flags);
}
CALL(int, posix_fadvise, int fd, off_t offset, off_t bytes, int advice) {
  static const auto real = next(replaced_posix_fadvise, "posix_fadvise");
  const int error = error_of("posix_fadvise", fd, {EINVAL});
  return error != 0 ? error : real(fd, offset, bytes, advice);
}
SAME_CALL(posix_fadvise64, posix_fadvise)

CALL(int, ftruncate, int fd, off_t size) {
  return make("ftruncate", fd, {EIO, EINTR}, SYS_ftruncate, fd, size);
}
SAME_CALL(ftruncate64, ftruncate)
CALL(int, fallocate, int fd, int mode, off_t offset, off_t bytes) {
  // With KEEP_SIZE, reserves space for the whole file; otherwise, allocates ahead and extends the file.
  const char* const call = (mode & FALLOC_FL_KEEP_SIZE) != 0 ? "fallocate" : "fallocate_part";
  return make(call, fd, {EOPNOTSUPP, ENOSPC, EINTR}, SYS_fallocate, fd, mode, offset, bytes);
}
SAME_CALL(fallocate64, fallocate)

// Duplicating needs a free descriptor; the system limits the size of pipes; not every file system has locks.
CALL(int, fcntl, int fd, int command, void* argument) {
  const bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  if (duplicates && fails("fcntl", fd, {EMFILE})) return -1;
  if (command == F_SETPIPE_SZ && fails("fcntl", fd, {EPERM})) return -1;
  const bool direct = command == F_SETFL && (reinterpret_cast<long>(argument) & O_DIRECT) != 0;
  if (direct && fails("F_SETFL", fd, {EINVAL})) return -1;
  const bool locks = command == F_OFD_SETLK || command == F_OFD_SETLKW;
  if (locks && fails("F_OFD_SETLK", fd, {ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL})) return -1;
  return static_cast<int>(syscall(SYS_fcntl, fd, command, argument));
}
SAME_CALL(fcntl64, fcntl)

// Names -----------------------------------------------------------------------------------------

namespace {

// Some file systems and sandboxes refuse to rename files with any call, and others to link them, too.
bool refuses_naming(const char* to) {
  return fails("any_naming", to, {EPERM});
}
bool refuses_rename(const char* to) {
  return fails("any_rename", to, {EPERM, ENOSYS}) || refuses_naming(to);
}

}  // namespace

CALL(int, renameat2, int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  if (refuses_rename(to) || fails("renameat2", to, {EIO, EPERM, EACCES, EXDEV, EINVAL})) return -1;
  return named(to, syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}
CALL(int, renameat, int from_folder, const char* from, int to_folder, const char* to) {
  if (refuses_rename(to) || fails("renameat", to, {EIO, EPERM, EACCES, EXDEV})) return -1;
  return named(to, syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}
CALL(int, rename, const char* from, const char* to) {
  if (refuses_rename(to) || fails("rename", to, {EIO, EPERM, EACCES, EXDEV})) return -1;
  return named(to, syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
#define LINK_ERRORS \
  { EIO, EPERM, EACCES, EXDEV, EOPNOTSUPP, EMLINK, ENOENT }
CALL(int, linkat, int from_folder, const char* from, int to_folder, const char* to, int flags) {
  if (refuses_naming(to) || fails("linkat", to, LINK_ERRORS)) return -1;
  return named(to, syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}
CALL(int, link, const char* from, const char* to) {
  if (refuses_naming(to) || fails("link", to, LINK_ERRORS)) return -1;
  return named(to, syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}
CALL(int, unlinkat, int folder, const char* path, int flags) {
  return make("unlinkat", path, {EPERM, EACCES}, SYS_unlinkat, folder, path, flags);
}
CALL(int, unlink, const char* path) {
  return make("unlink", path, {EPERM, EACCES}, SYS_unlinkat, AT_FDCWD, path, 0);
}
CALL(int, mkdir, const char* path, mode_t mode) {
  return make("mkdir", path, {EACCES, ENOSPC}, SYS_mkdirat, AT_FDCWD, path, mode);
}
CALL(int, mkdirat, int folder, const char* path, mode_t mode) {
  return make("mkdirat", path, {EACCES, ENOSPC}, SYS_mkdirat, folder, path, mode);
}
CALL(int, rmdir, const char* path) {
  return make("rmdir", path, {EACCES, EBUSY}, SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}
CALL(ssize_t, readlink, const char* path, char* target, size_t size) {
  return fails("readlink", path, {EACCES}) ? -1 : syscall(SYS_readlinkat, AT_FDCWD, path, target, size);
}

// File status, permissions, attributes ----------------------------------------------------------

CALL(int, stat, const char* path, struct stat* status) {
  return make("stat", path, {EIO, EACCES}, SYS_newfstatat, AT_FDCWD, path, status, 0);
}
SAME_CALL(stat64, stat)
CALL(int, lstat, const char* path, struct stat* status) {
  return make("lstat", path, {EIO, EACCES}, SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
SAME_CALL(lstat64, lstat)
CALL(int, fstat, int fd, struct stat* status) {
  return make("fstat", fd, {EIO}, SYS_fstat, fd, status);
}
SAME_CALL(fstat64, fstat)
CALL(int, fstatat, int folder, const char* path, struct stat* status, int flags) {
  return make("fstatat", path, {EIO, EACCES}, SYS_newfstatat, folder, path, status, flags);
}
SAME_CALL(fstatat64, fstatat)
CALL(int, statx, int folder, const char* path, int flags, unsigned mask, struct statx* status) {
  return make("statx", path, {EIO, EACCES}, SYS_statx, folder, path, flags, mask, status);
}
CALL(int, faccessat, int folder, const char* path, int mode, int flags) {
  static const auto real = next(replaced_faccessat, "faccessat");
  return fails("faccessat", path, {EIO, EACCES}) ? -1 : real(folder, path, mode, flags);
}
CALL(int, utimensat, int folder, const char* path, const timespec* times, int flags) {
  return make("utimensat", path, {EPERM, EROFS}, SYS_utimensat, folder, path, times, flags);
}
CALL(int, futimens, int fd, const timespec* times) {
  return make("futimens", fd, {EPERM, EROFS}, SYS_utimensat, fd, nullptr, times, 0);
}
CALL(int, statfs, const char* path, struct statfs* status) {
  return make("statfs", path, {EIO}, SYS_statfs, path, status);
}
CALL(int, fstatfs, int fd, struct statfs* status) {
  return make("fstatfs", fd, {EIO}, SYS_fstatfs, fd, status);
}
CALL(int, fchmod, int fd, mode_t mode) {
  return make("fchmod", fd, {EPERM, EOPNOTSUPP, ENOSYS}, SYS_fchmod, fd, mode);
}
CALL(int, fchown, int fd, uid_t owner, gid_t group) {
  return make("fchown", fd, {EPERM, EINVAL}, SYS_fchown, fd, owner, group);
}
CALL(ssize_t, fgetxattr, int fd, const char* name, void* value, size_t size) {
  return fails("fgetxattr", fd, {EOPNOTSUPP, EPERM, EIO}) ? -1
                                                          : syscall(SYS_fgetxattr, fd, name, value, size);
}
CALL(ssize_t, getxattr, const char* path, const char* name, void* value, size_t size) {
  return fails("getxattr", path, {EOPNOTSUPP, EIO}) ? -1 : syscall(SYS_getxattr, path, name, value, size);
}
CALL(ssize_t, flistxattr, int fd, char* list, size_t size) {
  return fails("flistxattr", fd, {EOPNOTSUPP, EIO}) ? -1 : syscall(SYS_flistxattr, fd, list, size);
}
CALL(ssize_t, listxattr, const char* path, char* list, size_t size) {
  return fails("listxattr", path, {EOPNOTSUPP, EIO}) ? -1 : syscall(SYS_listxattr, path, list, size);
}
CALL(int, fsetxattr, int fd, const char* name, const void* value, size_t size, int flags) {
  return make("fsetxattr", fd, {EOPNOTSUPP, EPERM, ENOSPC}, SYS_fsetxattr, fd, name, value, size, flags);
}
CALL(int, fremovexattr, int fd, const char* name) {
  return make("fremovexattr", fd, {EOPNOTSUPP, EPERM}, SYS_fremovexattr, fd, name);
}

// Memory, threads, randomness -------------------------------------------------------------------

CALL(void*, mmap, void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  if (fails("mmap", fd, {ENOMEM})) return reinterpret_cast<void*>(-1);
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, size, protection, flags, fd, offset));
}
SAME_CALL(mmap64, mmap)
CALL(int, mlock, const void* at, size_t size) {
  return make("mlock", -1, {ENOMEM, EPERM}, SYS_mlock, at, size);
}
CALL(int, madvise, void* at, size_t size, int advice) {
  return make("madvise", -1, {EINVAL}, SYS_madvise, at, size, advice);
}
CALL(int, mincore, void* at, size_t size, unsigned char* resident) {
  return make("mincore", -1, {EAGAIN, ENOMEM}, SYS_mincore, at, size, resident);
}

CALL(int, pthread_create, pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
     void* argument) {
  static const auto real = next(replaced_pthread_create, "pthread_create");
  const int error = error_of("pthread_create", -1, {EAGAIN});
  return error != 0 ? error : real(thread, attributes, function, argument);
}

CALL(int, getentropy, void* out, size_t size) {
  static const auto real = next(replaced_getentropy, "getentropy");
  return fails("getentropy", -1, {ENOSYS, EIO}) ? -1 : real(out, size);
}
CALL(ssize_t, getrandom, void* out, size_t size, unsigned flags) {
  if (fails("getrandom", -1, {ENOSYS, EINTR})) return -1;
  return syscall(SYS_getrandom, out, shortened("getrandom", -1, size), flags);
}

// Descriptors that the signal thread waits on ---------------------------------------------------

CALL(int, epoll_create1, int flags) {
  return make("epoll_create1", -1, {EMFILE}, SYS_epoll_create1, flags);
}
CALL(int, epoll_wait, int fd, epoll_event* events, int count, int timeout) {
  static const auto real = next(replaced_epoll_wait, "epoll_wait");
  return fails("epoll_wait", fd, {EINTR}) ? -1 : real(fd, events, count, timeout);
}
CALL(int, eventfd, unsigned value, int flags) {
  return make("eventfd", -1, {EMFILE}, SYS_eventfd2, value, flags);
}
CALL(int, timerfd_create, int clock, int flags) {
  return make("timerfd_create", -1, {EMFILE}, SYS_timerfd_create, clock, flags);
}
CALL(int, pipe, int* ends) {
  return make("pipe", -1, {EMFILE}, SYS_pipe2, ends, 0);
}

// Commands --------------------------------------------------------------------------------------

CALL(int, pipe2, int* ends, int flags) {
  return make("pipe2", -1, {EMFILE}, SYS_pipe2, ends, flags);
}
CALL(int, posix_spawnp, pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions,
     const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  static const auto real = next(replaced_posix_spawnp, "posix_spawnp");
  const int error = error_of("posix_spawnp", -1, {EAGAIN, ENOENT});
  std::vector<char*> without_faults;
  for (char* const* variable = environment; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) without_faults.push_back(*variable);
  without_faults.push_back(nullptr);
  return error != 0 ? error : real(pid, file, actions, attributes, arguments, without_faults.data());
}
CALL(pid_t, waitpid, pid_t pid, int* status, int options) {
  static const auto real = next(replaced_waitpid, "waitpid");
  return fails("waitpid", -1, {EINTR}) ? -1 : real(pid, status, options);
}

// Only allocations by the program itself fail: how libraries handle that is not tested here.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
}
#define HAS_MEMORY() !(faults::is_program(__builtin_return_address(0)) && fails("malloc", -1, {ENOMEM}))

CALL(void*, malloc, size_t size) {
  return HAS_MEMORY() ? __libc_malloc(size) : nullptr;
}
CALL(void*, calloc, size_t count, size_t size) {
  return HAS_MEMORY() ? __libc_calloc(count, size) : nullptr;
}
CALL(void*, realloc, void* old, size_t size) {
  return HAS_MEMORY() ? __libc_realloc(old, size) : nullptr;
}

// Calls are counted from main() on.
CALL(int, __libc_start_main, int (*main)(int, char**, char**), int count, char** arguments, void (*init)(),
     void (*fini)(), void (*end)(), void* stack) {
  static const auto real = next(replaced___libc_start_main, "__libc_start_main");
  static const auto program_main = main;
  const auto counted_main = [](int c, char** v, char** e) {
    faults::begin();
    return program_main(c, v, e);
  };
  return real(counted_main, count, arguments, init, fini, end, stack);
}
