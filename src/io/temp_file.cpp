#include "io/temp_file.hpp"

#include <fmt/format.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/error.hpp"
#include "io/fd_source_sink.hpp"
#include "io/naming.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

constexpr int max_name_tries = 100;
constexpr mode_t new_file_mode = 0666;  // less umask

// To open a file as the shell's > does, but without truncating it: the kernel decides whether it is writable.
constexpr int write_flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

constexpr std::string_view mark = ".gpuaes-";

// .NAME.gpuaes-
std::string default_prefix(int directory, const std::string& base) {
  return fmt::format(".{}{}", shortened_name(directory, base, 1 + mark.size() + random_letters), mark);
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

Fd open_directory(const TempFile::Target& target, std::string_view failure) {
  Fd fd(openat(target.directory, directory_of(target.path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) throw io_error(failure, target.name, fd.error());
  return fd;
}

bool is_same_file(int a, int b) {
  struct stat first {
  }, second{};
  return fstat(a, &first) == 0 && fstat(b, &second) == 0 && is_same_inode(first, second);
}

// Gives an open file its first name, or another one. -1 with errno if that fails.
int link_into(int directory, int file, const char* new_name) {
  return linkat(AT_FDCWD, path_of_descriptor(file).c_str(), directory, new_name, AT_SYMLINK_FOLLOW);
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

TempFile::TempFile(Target target, Rules rules)
    : target_(std::move(target)),
      rules_(std::move(rules)),
      directory_(open_directory(target_, creation_failure(rules_.if_exists))),
      base_(target_.path.filename()),
      fd_(create()) {
  if (target_.old && !rules_.mode) new_mode_ = limited_by(permissions_of(target_.old->get()), new_mode_);
}

TempFile::~TempFile() {
  if (!temp_name_.empty()) unlinkat(directory_.get(), temp_name_.c_str(), 0);
}

// rename(2) makes these checks, too, but only when all work is done.
void TempFile::check_replaceable() const {
  struct statx old {
  }, directory{};
  if (statx(target_.old->get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &old) != 0 ||
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
  return rules_.replaces_read_only && old.error() == EACCES && fstat(target_.old->get(), &status) == 0 &&
         status.st_uid == geteuid();
}

Fd TempFile::open_old() const {
  const Fd now(openat(directory_.get(), base_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!target_.old || !is_same_file(now.get(), target_.old->get())) return Fd(-1);
  Fd fd(openat(directory_.get(), base_.c_str(), write_flags));
  if (may_be_read_only(fd)) {
    fd = Fd(openat(directory_.get(), base_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd.get() < 0) return fd;
  }
  if (fd.get() < 0) throw io_error("cannot write", target_.name, fd.error());
  return is_same_file(fd.get(), target_.old->get()) ? std::move(fd) : Fd(-1);
}

bool TempFile::exists() const {
  return faccessat(directory_.get(), base_.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

Fd TempFile::create() {
  if (must_be_new() && exists()) throw file_exists(target_.name);
  if (target_.old) check_replaceable();
  Fd nameless = rules_.nameless ? create_nameless() : Fd(-1);
  if (nameless.get() >= 0) return nameless;
  if (rules_.prefix.empty()) rules_.prefix = default_prefix(directory_.get(), base_);
  if (is_append_only(directory_.get()))  // a file can be created there, but not renamed
    throw IoError(io_error("cannot replace", target_.name, EPERM).what(), rules_.hint);
  probe_named();
  Fd named = create_named(0600, temp_name_);
  const int error = named.get() < 0 ? named.error() : error_of(fstat(named.get(), &made_));
  if (error == 0) return named;
  const IoError failure = io_error(creation_failure(rules_.if_exists), target_.name, error);
  if (!temp_name_.empty()) unlinkat(directory_.get(), temp_name_.c_str(), 0);
  const bool could_be_written = faccessat(directory_.get(), base_.c_str(), W_OK, 0) == 0;
  throw could_be_written ? IoError(failure.what(), rules_.hint) : failure;
}

// Only a new file shows on every file system which mode new files get. It is closed first: some keep a file
// that is removed while open.
void TempFile::probe_named() {
  const std::string other = with_random_letters(rules_.prefix);  // while there is no probe that has to go
  std::string name;
  Fd probe = create_named(rules_.mode.value_or(new_file_mode), name);
  new_mode_ = permissions_of(probe.get());
  probe.close();
  if (name.empty()) return;
  if (!rules_.try_naming) {
    unlinkat(directory_.get(), name.c_str(), 0);
    return;
  }
  const int error = try_rename(name, other);
  if (error == 0) return;
  if (must_be_new()) throw naming_error(target_.name, error);
  throw IoError(io_error("cannot rename a temporary file next to", target_.name, error).what(), rules_.hint);
}

// Never more open to others than the old file, even if its mode cannot be changed later.
Fd TempFile::create_nameless() {
  const mode_t old_mode = target_.old ? 0600 | (permissions_of(target_.old->get()) & 066) : new_file_mode;
  const mode_t mode = rules_.mode.value_or(old_mode);
  Fd fd(openat(directory_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  if (fd.get() < 0 || (rules_.try_naming && !can_link())) return Fd(-1);
  handle_ = Fd(open(path_of_descriptor(fd.get()).c_str(), O_PATH | O_CLOEXEC));
  if (handle_.get() < 0 || fstat(fd.get(), &made_) != 0) return Fd(-1);
  new_mode_ = made_.st_mode & 0777;
  return fd;
}

// Tries it with another file: once its only link is removed, a file without a name cannot be linked again. In
// an append-only directory, the link could not be removed. A link that is to replace a file is then renamed.
bool TempFile::can_link() const {
  if (is_append_only(directory_.get())) return true;
  const std::string prefix = default_prefix(directory_.get(), base_), other = with_random_letters(prefix);
  Fd probe(openat(directory_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  std::string name;
  const auto link = [&](const char* free_name) {
    return link_into(directory_.get(), probe.get(), free_name);
  };
  if (make_with_random_name(prefix, name, link) < 0) return false;
  probe.close();
  return target_.old ? try_rename(name, other) == 0 : unlinkat(directory_.get(), name.c_str(), 0) == 0;
}

// Renames the probe to another name as publish() would rename the file, and removes both. Returns 0, or the
// errno value if that fails.
int TempFile::try_rename(const std::string& probe, const std::string& other) const {
  const int directory = directory_.get();
  if (!must_be_new())  // then a file is replaced
    close(openat(directory, other.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const int error = rename_to(probe, other) ? 0 : errno;
  if (error != 0) unlinkat(directory, probe.c_str(), 0);
  if (error == 0 || !must_be_new()) unlinkat(directory, other.c_str(), 0);
  return error;
}

Fd TempFile::create_named(mode_t mode, std::string& temp_name) const {
  return Fd(make_with_random_name(rules_.prefix, temp_name, [&](const char* free_name) {
    return openat(directory_.get(), free_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  }));
}

bool TempFile::link_to(const char* new_name) const {
  return link_into(directory_.get(), handle_.get(), new_name) == 0;
}

bool TempFile::replace_target() {
  if (temp_name_.empty()) {
    const std::string prefix = default_prefix(directory_.get(), base_);
    if (link_to(base_.c_str())) return true;
    // linkat(2), unlike rename(2), does not replace a file.
    const auto link = [this](const char* free_name) { return link_to(free_name) ? 0 : -1; };
    if (errno != EEXIST || make_with_random_name(prefix, temp_name_, link) < 0) return false;
  }
  return rename_to(temp_name_, base_);
}

bool TempFile::rename_to(const std::string& from, const std::string& to) const {
  const int directory = directory_.get();
  return must_be_new() ? give_new_name(directory, from, directory, to)
                       : renameat(directory, from.c_str(), directory, to.c_str()) == 0;
}

bool TempFile::become_new_target() const {
  return temp_name_.empty() ? link_to(base_.c_str()) : rename_to(temp_name_, base_);
}

void TempFile::publish() {
  if (must_be_new() ? !become_new_target() : !replace_target()) {
    const int error = errno;
    // Another attempt may have finished, and removed this file.
    if (must_be_new() && (error == EEXIST || (error == ENOENT && exists()))) throw file_exists(target_.name);
    throw must_be_new() ? naming_error(target_.name, error)
                        : io_error("cannot rename the output to", target_.name, error);
  }
  temp_name_.clear();
}

void TempFile::sync_directory() const {
  gpuaes::sync_directory(Fd(openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), target_.name);
}

Fd TempFile::reopen() const {
  if (!temp_name_.empty()) return Fd(-1);
  const std::string path = path_of_descriptor(handle_.get());
  chmod(path.c_str(), 0600);  // the old file may have been one that its owner cannot read
  return Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::optional<std::string> TempFile::keep(Cancel& cancel) {
  const std::string prefix = default_prefix(directory_.get(), base_), kept = prefix + "kept";
  const auto link = [this](const char* free_name) { return link_to(free_name) ? 0 : -1; };
  if (temp_name_.empty()) make_with_random_name(prefix, temp_name_, link);
  if (!temp_name_.empty() && !is_at(directory_.get(), temp_name_)) return temp_name_.clear(), std::nullopt;
  const bool moved = move_to(kept) || copy_to(kept, cancel);
  if (!moved && !is_only_one()) return std::nullopt;
  return find(moved ? kept : std::exchange(temp_name_, ""));
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
  const int directory = directory_.get();
  if (temp_name_.empty()) return false;
  make_owner_only(directory, temp_name_);
  if (renameat(directory, temp_name_.c_str(), directory, kept.c_str()) != 0) {
    unlinkat(directory, kept.c_str(), 0);
    if (!give_new_name(directory, temp_name_, directory, kept)) return false;
  }
  temp_name_.clear();
  return true;
}

bool TempFile::copy_to(const std::string& kept, Cancel& cancel) {
  const int directory = directory_.get();
  Fd file = temp_name_.empty() ? reopen() : Fd(openat(directory, temp_name_.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return false;
  unlinkat(directory, kept.c_str(), 0);
  Fd copy(openat(directory, kept.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  struct stat made {};
  if (copy.get() < 0 || fstat(copy.get(), &made) != 0) return false;
  try {
    FdSource source(std::move(file), target_.name, cancel);
    FdSink sink(std::move(copy), target_.name, cancel);
    std::atomic<std::uint64_t> copied = 0;
    copy_rest(source, sink, copied);
    sink.sync();
    sink.finish();
  } catch (const IoError&) {
    return unlinkat(directory, kept.c_str(), 0), false;
  } catch (...) {
    unlinkat(directory, kept.c_str(), 0);
    throw;
  }
  if (!temp_name_.empty()) unlinkat(directory, temp_name_.c_str(), 0);
  temp_name_.clear();
  made_ = made;
  return true;
}

// Whether no other file has a temporary name of this target. Where nothing else works, each failure would
// leave one more complete file.
bool TempFile::is_only_one() const {
  if (temp_name_.empty()) return false;
  const std::string_view prefix = std::string_view(temp_name_).substr(0, temp_name_.size() - random_letters);
  return std::ranges::none_of(names_in(Fd(openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))),
                              [&](const std::string& name) {
                                return name.size() == temp_name_.size() && name.starts_with(prefix) &&
                                       name != temp_name_;
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

bool is_temporary_name(std::string_view name) {
  const std::size_t at = name.rfind(mark);
  if (at == name.npos || at < 2 || name.front() != '.') return false;
  const std::string_view end = name.substr(at + mark.size());
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  return end == kept_suffix.substr(mark.size()) ||
         (end.size() == random_letters && std::ranges::all_of(end, is_letter));
}

}  // namespace gpuaes
