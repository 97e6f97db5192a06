#include "io/temp_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/error.hpp"
#include "io/file_sink.hpp"
#include "io/naming.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

constexpr mode_t new_file_mode = 0666;  // less umask

// To open a file as the shell's > does, but without truncating it: the kernel decides whether it is writable.
constexpr int write_flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string_view creation_failure(TempFile::IfExists if_exists) {
  return if_exists == TempFile::IfExists::refuse ? "cannot open" : "cannot create a temporary file next to";
}

Fd open_directory(const OutputTarget& target, std::string_view failure) {
  if (!target.path.has_filename()) throw io_error("cannot open", target.name, EISDIR);
  Fd fd(openat(target.directory, directory_of(target.path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) throw io_error(failure, target.name, fd.error());
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

// Where modes cannot be changed, all files have the same.
void make_owner_only(int directory, const std::string& name) {
  if (fchmodat(directory, name.c_str(), 0600, AT_SYMLINK_NOFOLLOW) == 0) return;
  const Fd file(openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));  // without /proc
  fchmod(file.get(), 0600);
}

mode_t permissions_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? status.st_mode & 0777 : 0600;
}

}  // namespace

TempFile::TempFile(OutputTarget target, Rules rules)
    : target_(std::move(target)),
      rules_(std::move(rules)),
      directory_(open_directory(target_, creation_failure(rules_.if_exists))),
      base_(target_.path.filename()),
      name_(directory_.get()),
      fd_(create()) {
  if (target_.file && !rules_.mode) new_mode_ = limited_by(permissions_of(target_.file->get()), new_mode_);
}

// rename(2) makes these checks, too, but only when all work is done.
void TempFile::check_replaceable() const {
  struct statx old {
  }, directory{};
  if (statx(target_.file->get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &old) != 0 ||
      statx(directory_.get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &directory) != 0)
    throw io_error("cannot stat", target_.name, errno);
  if (!S_ISREG(old.stx_mode))
    throw IoError(fmt::format("{} is not a regular file and cannot be replaced", target_.name), rules_.hint);
  if ((old.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0)
    throw IoError(fmt::format("{} is a mount point and cannot be replaced", target_.name), rules_.hint);
  // With O_CREAT, fs.protected_regular applies.
  const Fd writable(openat(directory_.get(), base_.c_str(), write_flags | O_CREAT, 0600));
  if (writable.get() < 0 && !may_be_read_only(writable))
    throw io_error("cannot write", target_.name, writable.error());
  const uid_t user = geteuid();
  const bool is_protected =
      (directory.stx_mode & S_ISVTX) != 0 && user != 0 && user != old.stx_uid && user != directory.stx_uid;
  if (is_protected || is_append_only(directory_.get()))
    throw IoError(io_error("cannot replace", target_.name, EPERM).what(), rules_.hint);
}

bool TempFile::may_be_read_only(const Fd& old) const {
  struct stat status {};
  return rules_.replaces_read_only && old.error() == EACCES && fstat(target_.file->get(), &status) == 0 &&
         status.st_uid == geteuid();
}

Fd TempFile::open_old() const {
  const Fd now(openat(directory_.get(), base_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!target_.file || !is_same_file(now.get(), target_.file->get())) return Fd(-1);
  Fd fd(openat(directory_.get(), base_.c_str(), write_flags));
  if (may_be_read_only(fd)) {
    fd = Fd(openat(directory_.get(), base_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd.get() < 0) return fd;
  }
  if (fd.get() < 0) throw io_error("cannot write", target_.name, fd.error());
  return is_same_file(fd.get(), target_.file->get()) ? std::move(fd) : Fd(-1);
}

bool TempFile::exists() const {
  return faccessat(directory_.get(), base_.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

Fd TempFile::create() {
  if (must_be_new() && exists()) throw file_exists(target_.name);
  if (target_.file) check_replaceable();
  Fd nameless = rules_.nameless ? create_nameless() : Fd(-1);
  if (nameless.get() >= 0) return nameless;
  if (rules_.prefix.empty()) rules_.prefix = temporary_prefix(directory_.get(), base_);
  if (is_append_only(directory_.get()))  // a file can be created there, but not renamed
    throw IoError(io_error("cannot replace", target_.name, EPERM).what(), rules_.hint);
  probe_named();
  Fd named = name_.create(rules_.prefix, 0600);
  const int error = named.get() < 0 ? named.error() : error_of(fstat(named.get(), &made_));
  if (error == 0) return named;
  const IoError failure = io_error(creation_failure(rules_.if_exists), target_.name, error);
  name_.remove();
  const bool could_be_written = faccessat(directory_.get(), base_.c_str(), W_OK, 0) == 0;
  throw could_be_written ? IoError(failure.what(), rules_.hint) : failure;
}

// Only a new file shows on every file system which mode new files get. It is closed first: some keep a file
// that is removed while open.
void TempFile::probe_named() {
  const std::string other = with_random_letters(rules_.prefix);  // while there is no probe that has to go
  TemporaryName name(directory_.get());
  Fd probe = name.create(rules_.prefix, rules_.mode.value_or(new_file_mode));
  new_mode_ = permissions_of(probe.get());
  probe.close();
  if (name.empty() || !rules_.try_naming) return;
  const int error = name.try_rename(other, !must_be_new());
  if (error == 0) return;
  if (must_be_new()) throw_unnamed(error);
  throw IoError(io_error("cannot rename a temporary file next to", target_.name, error).what(), rules_.hint);
}

// Never more open to others than the old file, even if its mode cannot be changed later.
Fd TempFile::create_nameless() {
  if (rules_.try_naming && !can_link()) return Fd(-1);
  const mode_t old_mode = target_.file ? 0600 | (permissions_of(target_.file->get()) & 066) : new_file_mode;
  Fd fd = nameless_.create(directory_.get(), rules_.mode.value_or(old_mode));
  if (fd.get() < 0 || fstat(fd.get(), &made_) != 0) return Fd(-1);
  new_mode_ = made_.st_mode & 0777;
  return fd;
}

// Tries it with another file. In an append-only directory, the link could not be removed. A link that is to
// replace a file is then renamed.
bool TempFile::can_link() const {
  if (is_append_only(directory_.get())) return true;
  const std::string prefix = temporary_prefix(directory_.get(), base_), other = with_random_letters(prefix);
  TemporaryName name(directory_.get());
  {
    NamelessFile probe;
    const Fd fd = probe.create(directory_.get(), 0600);
    if (!link_temporarily(probe, prefix, name)) return false;
  }
  return target_.file ? name.try_rename(other, true) == 0 : name.remove();
}

bool TempFile::link_temporarily(const NamelessFile& file, const std::string& prefix,
                                TemporaryName& name) const {
  return name.find(prefix,
                   [&](const char* free_name) { return file.link_to(directory_.get(), free_name); }) == 0;
}

// linkat(2), unlike rename(2), does not replace a file.
bool TempFile::give_name() {
  if (!name_.empty()) return name_.rename_to(base_, !must_be_new());
  if (nameless_.link_to(directory_.get(), base_.c_str()) == 0) return true;
  if (must_be_new() || errno != EEXIST) return false;
  return link_temporarily(nameless_, temporary_prefix(directory_.get(), base_), name_) &&
         name_.rename_to(base_, true);
}

void TempFile::publish() {
  if (give_name()) return;
  const int error = errno;
  if (!must_be_new()) throw io_error("cannot rename the output to", target_.name, error);
  throw_unnamed(error);
}

// A file that must be new got no name. Another attempt may have finished, and removed this one.
void TempFile::throw_unnamed(int error) const {
  if (error == EEXIST || (error == ENOENT && exists())) throw file_exists(target_.name);
  throw naming_error(target_.name, error);
}

void TempFile::remove_published() const noexcept {
  unlinkat(directory_.get(), base_.c_str(), 0);
}

void TempFile::sync_directory() const {
  gpuaes::sync_directory(Fd(openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), target_.name);
}

Fd TempFile::reopen() const {
  return name_.empty() ? nameless_.reopen() : Fd(-1);
}

std::optional<std::string> TempFile::keep(Cancel& cancel) {
  const std::string prefix = temporary_prefix(directory_.get(), base_), kept = prefix + "kept";
  if (name_.empty()) link_temporarily(nameless_, prefix, name_);
  if (!name_.empty() && !is_at(directory_.get(), name_.get())) return name_.release(), std::nullopt;
  const bool moved = move_to(kept) || copy_to(kept, cancel);
  if (!moved && !is_only_one()) return std::nullopt;
  return find(moved ? kept : name_.release());
}

// Whether this is still a name of the file, unless the system does not say. The path is relative to an open
// directory.
bool TempFile::is_at(int directory, const fs::path& path) const {
  struct stat named {};
  if (fstatat(directory, path.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0)
    return errno != ENOENT && errno != ENOTDIR;
  return is_same_inode(named, made_);
}

bool TempFile::move_to(const std::string& kept) {
  if (name_.empty()) return false;
  make_owner_only(directory_.get(), name_.get());
  if (name_.rename_to(kept, true)) return true;
  unlinkat(directory_.get(), kept.c_str(), 0);
  return name_.rename_to(kept, false);
}

bool TempFile::copy_to(const std::string& kept, Cancel& cancel) {
  const int directory = directory_.get();
  Fd file = name_.empty() ? reopen() : Fd(openat(directory, name_.get().c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return false;
  unlinkat(directory, kept.c_str(), 0);
  Fd copy(openat(directory, kept.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (copy.get() < 0) return false;
  TemporaryName name(directory, kept);  // removed if the copy fails
  struct stat made {};
  try {
    if (fstat(copy.get(), &made) != 0) return false;
    copy_file(std::move(file), std::move(copy), target_.name, cancel);
  } catch (const IoError&) {
    return false;
  }
  name.release();
  name_.remove();
  made_ = made;
  return true;
}

// Whether no other file has a temporary name of this target. Where nothing else works, each failure would
// leave one more complete file.
bool TempFile::is_only_one() const {
  if (name_.empty()) return false;
  const std::string& own = name_.get();
  const std::string_view prefix = std::string_view(own).substr(0, own.size() - random_letters);
  return std::ranges::none_of(names_in(Fd(openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))),
                              [&](const std::string& name) {
                                return name.size() == own.size() && name.starts_with(prefix) && name != own;
                              });
}

// The path of this file in the directory, which may have been renamed. Nothing if the file is not there.
std::optional<std::string> TempFile::find(const std::string& name) const {
  const fs::path shown = target_.directory == AT_FDCWD ? target_.path : fs::path(target_.name);
  std::error_code error;
  const fs::path now = fs::read_symlink(path_of_descriptor(directory_.get()), error);
  for (const fs::path& directory : {shown.parent_path(), now}) {
    const fs::path path = directory / name;
    if (is_at(AT_FDCWD, path)) return path;
  }
  return std::nullopt;
}

}  // namespace gpuaes
