#include "io/temp_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <random>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

constexpr int max_tries = 100;

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// .NAME.gpuaes-XXXXXX, with as much of NAME as fits.
std::string random_name(std::string_view base, std::size_t max_bytes) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr std::string_view mark = ".gpuaes-";
  constexpr std::size_t random_letters = 6;
  static std::random_device source;
  std::uniform_int_distribution<std::size_t> letter(0, letters.size() - 1);
  std::string name = ".";
  name.append(base.substr(0, max_bytes - 1 - mark.size() - random_letters)).append(mark);
  for (std::size_t i = 0; i < random_letters; ++i) name.push_back(letters[letter(source)]);
  return name;
}

// Calls `make` with random names until one is free. Returns its result, or -1 with errno and no name.
template <class Make>
int make_with_random_name(int directory, std::string_view base, std::string& name, Make make) {
  const long limit = fpathconf(directory, _PC_NAME_MAX);
  const auto max_bytes = static_cast<std::size_t>(limit > 0 ? std::max(limit, 32L) : NAME_MAX);
  for (int tries = 0;; ++tries) {
    name = random_name(base, max_bytes);
    const int result = make(name.c_str());
    if (result >= 0) return result;
    if (errno != EEXIST || tries == max_tries) return name.clear(), result;
  }
}

// linkat(2) uses this path to name an open file. AT_EMPTY_PATH requires a privilege on older kernels.
std::string path_of_descriptor(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

std::string_view creation_failure(TempFile::IfExists if_exists) {
  return if_exists == TempFile::IfExists::refuse ? "cannot open" : "cannot create a temporary file next to";
}

Fd open_directory(const fs::path& path, const std::string& name, std::string_view failure) {
  Fd fd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) throw io_error(failure, name, errno);
  return fd;
}

}  // namespace

TempFile::TempFile(const fs::path& target, std::string name, const char* hint, IfExists if_exists)
    : target_(target),
      name_(std::move(name)),
      hint_(hint),
      if_exists_(if_exists),
      directory_(open_directory(directory_of(target), name_, creation_failure(if_exists))),
      base_(target.filename()),
      fd_(create()) {}

TempFile::~TempFile() {
  if (!temp_name_.empty()) unlinkat(directory_.get(), temp_name_.c_str(), 0);
}

Fd TempFile::create() {
  const std::string_view failure = creation_failure(if_exists_);
  struct stat existing {};
  if (if_exists_ == IfExists::refuse && lstat(target_.c_str(), &existing) == 0) throw file_exists(name_);
  Fd nameless = create_nameless(0600);
  if (nameless.get() >= 0)
    handle_.reset(open(path_of_descriptor(nameless.get()).c_str(), O_PATH | O_CLOEXEC));
  if (handle_.get() >= 0) return nameless;
  struct statx status {};
  if (statx(directory_.get(), "", AT_EMPTY_PATH, 0, &status) == 0 &&
      (status.stx_attributes & STATX_ATTR_APPEND) != 0)  // a file can be created there, but not renamed
    throw IoError(io_error("cannot replace", name_, EPERM).what(), hint_);
  Fd named = create_named(0600, temp_name_);
  if (named.get() >= 0) return named;
  const IoError error = io_error(failure, name_, errno);
  const bool could_be_written = faccessat(directory_.get(), base_.c_str(), W_OK, 0) == 0;
  throw could_be_written ? IoError(error.what(), hint_) : error;
}

Fd TempFile::create_nameless(mode_t mode) const {
  return Fd(openat(directory_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
}

Fd TempFile::create_named(mode_t mode, std::string& temp_name) const {
  return Fd(make_with_random_name(directory_.get(), base_, temp_name, [&](const char* free_name) {
    return openat(directory_.get(), free_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  }));
}

mode_t TempFile::mode_of_new_file() const {
  std::string probe;
  const Fd fd = handle_.get() >= 0 ? create_nameless(0666) : create_named(0666, probe);
  if (!probe.empty()) unlinkat(directory_.get(), probe.c_str(), 0);
  struct stat status {};
  return fstat(fd.get(), &status) == 0 ? status.st_mode & 07777 : 0600;
}

std::optional<TempFile::State> TempFile::inspect_target() const {
  struct statx status {};
  if (statx(directory_.get(), base_.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    throw io_error("cannot stat", name_, errno);
  }
  if (!S_ISREG(status.stx_mode))
    throw IoError(fmt::format("{} is no longer a regular file and cannot be replaced", name_), hint_);
  if ((status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    throw IoError(fmt::format("{} is a mount point and cannot be replaced", name_), hint_);
  check_writable();
  // For a file, rmdir(2) performs the same checks as a rename(2) over it (sticky bit, attributes,
  // capabilities) before it fails with ENOTDIR.
  if (unlinkat(directory_.get(), base_.c_str(), AT_REMOVEDIR) != 0 && errno != ENOTDIR && errno != ENOENT)
    throw IoError(io_error("cannot replace", name_, errno).what(), hint_);
  return State{status.stx_ino, status.stx_ctime.tv_sec, status.stx_ctime.tv_nsec};
}

// Opens the target as the shell's > does, without truncating it: the kernel decides whether it is writable.
// With O_CREAT, fs.protected_regular applies.
void TempFile::check_writable() const {
  constexpr int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Fd fd(openat(directory_.get(), base_.c_str(), flags));
  if (fd.get() >= 0) fd.reset(openat(directory_.get(), base_.c_str(), flags | O_CREAT, 0600));
  if (fd.get() < 0) throw io_error("cannot write", name_, errno);
}

std::string TempFile::target() const {
  return handle_.get() < 0 ? target_ : path_of_descriptor(directory_.get()) + "/" + base_;
}

bool TempFile::link_to(const char* new_name) const {
  return linkat(AT_FDCWD, path_of_descriptor(handle_.get()).c_str(), directory_.get(), new_name,
                AT_SYMLINK_FOLLOW) == 0;
}

bool TempFile::rename_to_target() const {
  return renameat(directory_.get(), temp_name_.c_str(), directory_.get(), base_.c_str()) == 0;
}

bool TempFile::replace_target() {
  if (temp_name_.empty()) {
    if (link_to(base_.c_str())) return true;
    // linkat(2), unlike rename(2), does not replace a file.
    const auto link = [this](const char* free_name) { return link_to(free_name) ? 0 : -1; };
    if (errno != EEXIST || make_with_random_name(directory_.get(), base_, temp_name_, link) < 0) return false;
  }
  return rename_to_target();
}

bool TempFile::become_new_target() const {
  if (temp_name_.empty()) return link_to(base_.c_str());
  if (linkat(directory_.get(), temp_name_.c_str(), directory_.get(), base_.c_str(), 0) == 0 || is_target()) {
    unlinkat(directory_.get(), temp_name_.c_str(), 0);
    return true;
  }
  return errno != EEXIST && rename_to_reserved_target();
}

// NFS reports that the target exists if the reply to linkat(2) was lost.
bool TempFile::is_target() const {
  const int error = errno;
  struct stat file {
  }, target{};
  const auto status = [this](const std::string& name, struct stat& found) {
    return fstatat(directory_.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  };
  const bool same = status(temp_name_, file) && status(base_, target) && file.st_dev == target.st_dev &&
                    file.st_ino == target.st_ino;
  return errno = error, same;
}

// For file systems without hard links, which may lack RENAME_NOREPLACE as well: reserves the name with an
// empty file before the rename.
bool TempFile::rename_to_reserved_target() const {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const Fd reserved(openat(directory_.get(), base_.c_str(), flags, 0600));
  if (reserved.get() < 0) return false;
  if (rename_to_target()) return true;
  const int error = errno;
  unlinkat(directory_.get(), base_.c_str(), 0);
  return errno = error, false;
}

void TempFile::publish() {
  if (if_exists_ == IfExists::refuse) {
    if (become_new_target()) return temp_name_.clear();
    if (errno == EEXIST) throw file_exists(name_);
    throw io_error("cannot open", name_, errno);
  }
  if (!replace_target()) throw io_error("cannot rename the output to", name_, errno);
  temp_name_.clear();
}

void sync_directory_of(const fs::path& path) {
  const Fd fd(open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (fd.get() >= 0 && fsync(fd.get()) != 0) {
    if (errno == EINVAL || errno == EROFS) return;
    if (errno != EINTR) throw io_error("cannot sync the directory of", path.string(), errno);
  }
}

}  // namespace gpuaes
