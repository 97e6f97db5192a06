#include "io/temp_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

#include "base/error.hpp"
#include "base/random.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

constexpr int max_name_tries = 100;

// To open a file as the shell's > does, but without truncating it: the kernel decides whether it is writable.
constexpr int write_flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

constexpr std::size_t random_letters = 6;

// .NAME.gpuaes-, with as much of NAME as fits.
std::string default_prefix(int directory, std::string_view base) {
  constexpr std::string_view mark = ".gpuaes-";
  const long limit = fpathconf(directory, _PC_NAME_MAX);
  const auto max_bytes = static_cast<std::size_t>(limit > 0 ? std::max(limit, 32L) : NAME_MAX);
  return fmt::format(".{}{}", base.substr(0, max_bytes - 1 - mark.size() - random_letters), mark);
}

// Calls `make` with random names until one is free. Returns its result, or -1 with errno and no name.
template <class Make>
int make_with_random_name(const std::string& prefix, std::string& name, Make make) {
  for (int tries = 0;; ++tries) {
    name = with_random_letters(prefix);
    const int result = make(name.c_str());
    if (result >= 0) return result;
    if (errno != EEXIST || tries == max_name_tries) return name.clear(), result;
  }
}

std::string_view creation_failure(TempFile::IfExists if_exists) {
  return if_exists == TempFile::IfExists::refuse ? "cannot open" : "cannot create a temporary file next to";
}

Fd open_directory(const fs::path& path, const std::string& name, std::string_view failure) {
  Fd fd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) throw io_error(failure, name, errno);
  return fd;
}

bool is_same_file(int a, int b) {
  struct stat first {
  }, second{};
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && is_same_inode(first, second);
}

// The permissions in `mode` that remain safe if the new file has another group or ACL than the old one: other
// users get only what the old file gave to everyone.
mode_t limited_by(mode_t old, mode_t mode) {
  const mode_t everyone = old & 07;
  return mode & ((old & 0700) | everyone << 3 | everyone);
}

mode_t permissions_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? status.st_mode & 0777 : 0600;
}

}  // namespace

TempFile::TempFile(const fs::path& target, std::string name, std::shared_ptr<const Fd> old, const char* hint,
                   IfExists if_exists, std::string temp_prefix)
    : name_(std::move(name)),
      hint_(hint),
      if_exists_(if_exists),
      directory_(open_directory(directory_of(target), name_, creation_failure(if_exists))),
      base_(target.filename()),
      temp_prefix_(std::move(temp_prefix)),
      old_(std::move(old)),
      fd_(create()) {
  if (old_) new_mode_ = limited_by(permissions_of(old_->get()), new_mode_);
}

TempFile::~TempFile() {
  if (!temp_name_.empty()) unlinkat(directory_.get(), temp_name_.c_str(), 0);
}

// rename(2) makes these checks, too, but only when all work is done.
void TempFile::check_replaceable() const {
  struct statx old {
  }, directory{};
  if (statx(old_->get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &old) != 0 ||
      statx(directory_.get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &directory) != 0)
    throw io_error("cannot stat", name_, errno);
  if (!S_ISREG(old.stx_mode))
    throw IoError(fmt::format("{} is not a regular file and cannot be replaced", name_), hint_);
  if ((old.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    throw IoError(fmt::format("{} is a mount point and cannot be replaced", name_), hint_);
  // With O_CREAT, fs.protected_regular applies.
  const Fd writable(openat(directory_.get(), base_.c_str(), write_flags | O_CREAT, 0600));
  if (writable.get() < 0) throw io_error("cannot write", name_, errno);
  const uid_t user = geteuid();
  const bool is_protected =
      (directory.stx_mode & S_ISVTX) != 0 && user != 0 && user != old.stx_uid && user != directory.stx_uid;
  if (is_protected || is_append_only()) throw IoError(io_error("cannot replace", name_, EPERM).what(), hint_);
}

Fd TempFile::open_old() const {
  const Fd now(openat(directory_.get(), base_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!old_ || !is_same_file(now.get(), old_->get())) return Fd(-1);
  Fd fd(openat(directory_.get(), base_.c_str(), write_flags));
  if (fd.get() < 0) throw io_error("cannot write", name_, errno);
  return is_same_file(fd.get(), old_->get()) ? std::move(fd) : Fd(-1);
}

bool TempFile::exists() const {
  return faccessat(directory_.get(), base_.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool TempFile::is_append_only() const {
  struct statx status {};
  return statx(directory_.get(), "", AT_EMPTY_PATH, 0, &status) == 0 &&
         (status.stx_attributes & STATX_ATTR_APPEND) != 0;
}

Fd TempFile::create() {
  if (if_exists_ == IfExists::refuse && exists()) throw file_exists(name_);
  if (old_) check_replaceable();
  const bool has_name = !temp_prefix_.empty();
  Fd nameless(has_name ? -1 : openat(directory_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  if (nameless.get() >= 0)
    handle_.reset(open(path_of_descriptor(nameless.get()).c_str(), O_PATH | O_CLOEXEC));
  if (handle_.get() >= 0) {
    new_mode_ = permissions_of(nameless.get());
    return nameless;
  }
  if (is_append_only())  // a file can be created there, but not renamed
    throw IoError(io_error("cannot replace", name_, EPERM).what(), hint_);
  if (!has_name) temp_prefix_ = default_prefix(directory_.get(), base_);
  // Only creating a file shows its mode on every file system.
  std::string probe_name;
  const Fd probe = create_named(0666, probe_name);
  if (probe.get() >= 0) unlinkat(directory_.get(), probe_name.c_str(), 0);
  new_mode_ = permissions_of(probe.get());
  Fd named = create_named(0600, temp_name_);
  if (named.get() >= 0) return named;
  const IoError error = io_error(creation_failure(if_exists_), name_, errno);
  const bool could_be_written = faccessat(directory_.get(), base_.c_str(), W_OK, 0) == 0;
  throw could_be_written ? IoError(error.what(), hint_) : error;
}

Fd TempFile::create_named(mode_t mode, std::string& temp_name) const {
  return Fd(make_with_random_name(temp_prefix_, temp_name, [&](const char* free_name) {
    return openat(directory_.get(), free_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  }));
}

bool TempFile::link_to(const char* new_name) const {
  return linkat(AT_FDCWD, path_of_descriptor(handle_.get()).c_str(), directory_.get(), new_name,
                AT_SYMLINK_FOLLOW) == 0;
}

bool TempFile::replace_target() {
  if (temp_name_.empty()) {
    if (link_to(base_.c_str())) return true;
    // linkat(2), unlike rename(2), does not replace a file.
    const auto link = [this](const char* free_name) { return link_to(free_name) ? 0 : -1; };
    const std::string prefix = default_prefix(directory_.get(), base_);
    if (errno != EEXIST || make_with_random_name(prefix, temp_name_, link) < 0) return false;
  }
  return renameat(directory_.get(), temp_name_.c_str(), directory_.get(), base_.c_str()) == 0;
}

bool TempFile::become_new_target() const {
  const int directory = directory_.get();
  return temp_name_.empty() ? link_to(base_.c_str()) : give_new_name(directory, temp_name_, directory, base_);
}

void TempFile::publish() {
  const bool must_be_new = if_exists_ == IfExists::refuse;
  if (must_be_new ? !become_new_target() : !replace_target()) {
    const int error = errno;
    // Another attempt may have finished, and removed this file.
    if (must_be_new && (error == EEXIST || (error == ENOENT && exists()))) throw file_exists(name_);
    throw io_error(must_be_new ? "cannot open" : "cannot rename the output to", name_, error);
  }
  temp_name_.clear();
}

std::string with_random_letters(std::string text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::array<std::byte, random_letters> random;
  fill_random(random);
  for (const std::byte each : random)
    text.push_back(letters[std::to_integer<std::size_t>(each) % letters.size()]);
  return text;
}

bool give_new_name(int directory, const std::string& name, int new_directory, const std::string& new_name) {
  const char *const from = name.c_str(), *const to = new_name.c_str();
  if (renameat2(directory, from, new_directory, to, RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL) return false;
  // NFS has no RENAME_NOREPLACE, and linkat(2) fails if its reply was lost: the number of links shows whether
  // it succeeded.
  struct stat status {};
  const int linked = linkat(directory, from, new_directory, to, 0), error = errno;
  if (linked != 0 && (fstatat(directory, from, &status, 0) != 0 || status.st_nlink != 2))
    return errno = error, false;
  unlinkat(directory, from, 0);
  return true;
}

void sync_directory_of(const fs::path& path) {
  const Fd fd(open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (fd.get() >= 0 && fsync(fd.get()) != 0) {
    if (errno == EINVAL || errno == EROFS) return;
    if (errno != EINTR) throw io_error("cannot sync the directory of", path.string(), errno);
  }
}

}  // namespace gpuaes
