#include "io/shared_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "io/naming.hpp"
#include "io/temporary_name.hpp"

namespace gpuaes {
namespace {

constexpr char new_mark[] = ".new-";  // before random letters, while the directory is made

std::string mark_of(std::uint32_t share) {
  return fmt::format("done.{}", share);
}

std::string lock_of(std::uint32_t share) {
  return fmt::format("lock.{}", share);
}

std::string file_name_of(const std::string& name) {
  std::string file = std::filesystem::path(name).filename();
  if (file.empty()) throw io_error("cannot open", name, EISDIR);
  return file;
}

std::string folder_for(const Directory& parent, const std::string& file, const SharedOutput::Place& place) {
  const std::string suffix = fmt::format(".{}-{}", place.id, place.of);
  const std::size_t more = suffix.size() + sizeof new_mark - 1 + random_letters;
  return shortened_name(parent.descriptor(), file, more) + suffix;
}

}  // namespace

SharedFolder::SharedFolder(const std::string& name, SharedOutput::Place place)
    : name_(name),
      place_(std::move(place)),
      file_(file_name_of(name)),
      parent_(directory_of(name)),
      folder_(folder_for(parent_, file_, place_)) {
  if (is_append_only(parent_.descriptor())) throw io_error("cannot create", name_, EPERM);
}

bool SharedFolder::open() {
  is_own_ = false;
  if (!parent_.has(folder_)) make();
  std::optional<Directory> directory = parent_.open_private(folder_);
  if (directory) directory_.emplace(std::move(*directory));
  return directory.has_value();
}

// If the file has appeared, the directory may be a new one, made after another process removed the last.
void SharedFolder::close() {
  if (is_own_ && directory_ && parent_.has(file_)) remove();
  directory_.reset();
}

bool SharedFolder::has_disappeared() const {
  struct stat opened {};
  const bool is_open = directory_ && fstat(directory_->descriptor(), &opened) == 0;
  const std::optional<struct stat> named = parent_.status_of(folder_);
  return is_open && !(named && is_same_inode(*named, opened));
}

// A directory cannot replace another one that is not empty, so the first process to rename its own wins. The
// data is moved into the directory with the call that may later publish it, so a file system without it is
// detected here.
void SharedFolder::make() {
  const int parent = parent_.descriptor();
  const std::string temp = with_random_letters(folder_ + new_mark);
  TemporaryName data(parent, with_random_letters(folder_ + new_mark));
  const Directory made = Directory::make(temp, &parent_);
  const auto clean_up = [&] {
    unlinkat(made.descriptor(), data_name, 0);
    parent_.remove_directory(temp);
  };
  try {
    create_data(data.get());
    if (!data.move_to(made.descriptor(), data_name)) throw naming_error(name_, errno);
    is_own_ = renameat(parent, temp.c_str(), parent, folder_.c_str()) == 0;
    const int error = errno;
    if (is_own_) return;
    if (!parent_.has(folder_)) throw io_error("cannot write", name(), error);
  } catch (...) {
    clean_up();
    throw;
  }
  clean_up();
}

// An empty file in the parent directory, with the access that a new file gets there, and the mark of
// unfinished data, unless the file system has no modes.
void SharedFolder::create_data(const std::string& file) const {
  Fd fd(openat(parent_.descriptor(), file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  struct stat made {};
  if (fd.get() >= 0 && fstat(fd.get(), &made) == 0) fchmod(fd.get(), (made.st_mode & 0777) | unfinished_bit);
  int error = fd.error();
  if (error == 0) error = set_size(fd.get(), place_.file_bytes) ? error_of(fd.close()) : errno;
  if (error != 0 && error != EINTR) throw io_error("cannot write", parent_.name_of(file), error);
}

Fd SharedFolder::open_lock(std::string& name) const {
  const std::string lock = lock_of(place_.share);
  name = directory_->name_of(lock);
  Fd fd(openat(directory_->descriptor(), lock.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC,
               0600));
  if (fd.get() < 0) throw io_error("cannot open", name, fd.error());
  return fd;
}

bool SharedFolder::is_done() const {
  return directory_->has(mark_of(place_.share));
}

void SharedFolder::mark_done() const {
  const std::string mark = mark_of(place_.share);
  const Fd fd(
      openat(directory_->descriptor(), mark.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd.get() < 0) throw io_error("cannot open", directory_->name_of(mark), fd.error());
}

// Begins with the next share, which is the least likely to be complete.
bool SharedFolder::all_done(const Cancel& cancel) const {
  for (std::uint32_t i = 1; i < place_.of; ++i) {
    cancel.check();
    if (!directory_->has(mark_of((place_.share + i) % place_.of))) return false;
  }
  return true;
}

void SharedFolder::sync() const {
  try {
    directory_->sync();
  } catch (const IoError&) {
    if (parent_.has(folder_)) throw;
  }
}

void SharedFolder::remove_finished() const {
  const std::optional<Directory> directory = parent_.open_private(folder_);
  if (!directory) return;
  const std::optional<struct stat> data = directory->status_of(data_name);
  const std::optional<struct stat> file = parent_.status_of(file_);
  if (!data || (file && is_same_inode(*data, *file))) remove(*directory);
}

// remove_folder() in tests/models/into.pml
void SharedFolder::remove(const Directory& directory) const {
  directory.remove(data_name);  // first: without it, what else is left shows nothing
  for (std::uint32_t i = 0; i < place_.of; ++i)
    for (const std::string& file : {mark_of(i), lock_of(i)}) directory.remove(file);
  parent_.remove_directory(folder_);
}

}  // namespace gpuaes
