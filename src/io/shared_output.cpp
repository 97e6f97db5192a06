#include "io/shared_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <vector>

#include "base/error.hpp"
#include "io/temp_file.hpp"

namespace gpuaes {
namespace {

constexpr char data_name[] = "data";
constexpr int max_tries = 100;  // for a directory that other processes make and remove

std::string mark_of(std::uint32_t share) {
  return fmt::format("done.{}", share);
}

bool is_equal_file(const FdSource& a, const FdSource& b) {
  constexpr std::size_t step = 1 << 20;
  std::vector<std::byte> first(step), second(step);
  const std::uint64_t size = a.size().value_or(0);
  if (b.size().value_or(0) != size) return false;
  for (std::uint64_t at = 0; at < size; at += step) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(step, size - at));
    a.read_at(at, std::span(first).first(count));
    b.read_at(at, std::span(second).first(count));
    if (!std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(count), second.begin()))
      return false;
  }
  return true;
}

}  // namespace

void SharedOutput::open(const Place& place) {
  place_ = place;
  const std::filesystem::path path(name_);
  file_ = path.filename();
  if (file_.empty()) throw io_error("cannot open", name_, EISDIR);
  parent_.emplace(path.has_parent_path() ? path.parent_path().string() : ".");
  folder_ = fmt::format("{}.{}-{}", file_, place.id, place.of);
  for (int tries = 0; tries < max_tries; ++tries) {
    if (std::optional<FdSource> existing = parent_->open(file_, cancel_))
      return open_existing(std::move(*existing));
    if (open_data() && !parent_->has(file_)) return;
    // The file has appeared, so the directory may be a new one, made after another process removed the last.
    if (data_ && made_folder_) remove_folder(*directory_);
    data_.reset();
  }
  throw IoError(fmt::format("{} was removed again and again", parent_->name_of(folder_)));
}

void SharedOutput::open_existing(FdSource file) {
  if (file.size() != place_.file_bytes) throw file_exists(name_);
  compared_.emplace(std::move(file));
}

// A directory cannot replace another one that is not empty, so the first process to rename its own wins.
void SharedOutput::make_folder() {
  const std::string temp = with_random_letters(folder_ + ".new-");
  const Directory made = Directory::make_in(*parent_, temp);
  {
    const Fd data(openat(made.descriptor(), data_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (data.get() >= 0 && set_size(data.get(), place_.file_bytes) &&
        renameat(parent_->descriptor(), temp.c_str(), parent_->descriptor(), folder_.c_str()) == 0) {
      made_folder_ = true;
      return;
    }
  }
  const int error = errno;
  made.remove(data_name);
  parent_->remove_directory(temp);
  if (error != EEXIST && error != ENOTEMPTY) throw io_error("cannot write", parent_->name_of(folder_), error);
}

// Returns false if the directory disappeared, or contained no data.
bool SharedOutput::open_data() {
  made_folder_ = false;
  if (!parent_->has(folder_)) make_folder();
  std::optional<Directory> folder = parent_->open_private(folder_);
  if (!folder) return false;
  directory_.emplace(std::move(*folder));
  const std::string name = directory_->name_of(data_name);
  Fd fd(openat(directory_->descriptor(), data_name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
  if (fd.get() < 0 && errno == ENOENT) return remove_folder(*directory_), false;
  struct stat status {};
  if (fd.get() < 0 || fstat(fd.get(), &status) != 0) throw io_error("cannot open", name, errno);
  if (!S_ISREG(status.st_mode)) throw IoError(fmt::format("{} is not a regular file", name));
  if (lseek(fd.get(), static_cast<off_t>(place_.offset), SEEK_SET) < 0)
    throw io_error("cannot seek in", name, errno);
  data_ = std::make_unique<FdSink>(std::move(fd), name, cancel_);
  return true;
}

void SharedOutput::write(std::span<const std::byte> bytes) {
  if (data_) data_->write(bytes);
  if (compared_) {
    std::vector<std::byte> there(bytes.size());
    compared_->read_at(place_.offset + at_, there);
    if (!std::ranges::equal(there, bytes)) throw file_exists(name_);
  }
  at_ += bytes.size();
}

void SharedOutput::finish() {
  if (data_) return finish_share();
  const std::optional<Directory> folder = parent_->open_private(folder_);
  if (!folder) return;
  const std::optional<struct stat> data = folder->status_of(data_name);
  const std::optional<struct stat> file = parent_->status_of(file_);
  if (!data || (file && is_same_inode(*data, *file))) remove_folder(*folder);
}

void SharedOutput::finish_share() {
  data_->sync();
  data_->finish();
  const std::string mark = mark_of(place_.share);
  const Fd fd(
      openat(directory_->descriptor(), mark.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  const int error = errno;
  if (fd.get() < 0 && error == ENOENT && parent_->has(file_)) return;  // another process has removed it
  if (fd.get() < 0) throw io_error("cannot open", directory_->name_of(mark), error);
  directory_->sync();
  if (all_done()) publish();
}

// Begins with the next share, which is the least likely to be complete.
bool SharedOutput::all_done() const {
  for (std::uint32_t i = 1; i < place_.of; ++i) {
    cancel_.check();
    if (!directory_->has(mark_of((place_.share + i) % place_.of))) return false;
  }
  return true;
}

// Several processes may find all shares complete at the same time. A link keeps the data in the directory
// until that is removed; without links, the data is renamed.
void SharedOutput::publish() {
  const int from = directory_->descriptor(), to = parent_->descriptor();
  bool named = linkat(from, data_name, to, file_.c_str(), 0) == 0;
  if (!named && errno != EEXIST && errno != ENOENT) named = give_new_name(from, data_name, to, file_);
  const int error = errno;
  if (!named && !is_published())
    throw error == EEXIST ? file_exists(name_) : io_error("cannot rename to", name_, error);
  parent_->sync();
  remove_folder(*directory_);
}

// Whether the file that exists is the data, or a copy.
bool SharedOutput::is_published() const {
  const std::optional<FdSource> file = parent_->open(file_, cancel_);
  const std::optional<FdSource> data = directory_->open(data_name, cancel_);
  if (!file || !data) return file.has_value();
  return is_same_inode(file->status(), data->status()) || is_equal_file(*file, *data);
}

void SharedOutput::remove_folder(const Directory& folder) const {
  for (std::uint32_t i = 0; i < place_.of; ++i) folder.remove(mark_of(i));
  folder.remove(data_name);
  parent_->remove_directory(folder_);
}

}  // namespace gpuaes
