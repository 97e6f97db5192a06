#include "io/shared_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "io/directory.hpp"
#include "io/file_sink.hpp"
#include "io/lock_file.hpp"
#include "io/naming.hpp"
#include "io/temporary_name.hpp"

namespace gpuaes {
namespace {

constexpr char data_name[] = "data";
constexpr char new_mark[] = ".new-";                  // before random letters, while the directory is made
constexpr int max_tries = 100;                        // for a directory that other processes make and remove
constexpr std::chrono::milliseconds retry_pause{20};  // in all, longer than FUSE file systems cache names

// The mode of unfinished data has this bit, which no one gives to a file without the other ones. A descriptor
// of the data shows whether it is still set, even if the file has been moved, and no host caches it.
constexpr mode_t unfinished_bit = S_IXOTH;

bool is_marked(mode_t mode) {
  return (mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == unfinished_bit;
}

std::string mark_of(std::uint32_t share) {
  return fmt::format("done.{}", share);
}

std::string lock_of(std::uint32_t share) {
  return fmt::format("lock.{}", share);
}

// The file of that name itself. None if it does not exist. A network file system may know names from a cache.
std::optional<struct statx> find(const Directory& directory, const std::string& name,
                                 int sync = AT_STATX_FORCE_SYNC) {
  struct statx found {};
  const int flags = AT_SYMLINK_NOFOLLOW | sync;
  const int error = error_of(statx(directory.descriptor(), name.c_str(), flags, STATX_BASIC_STATS, &found));
  if (error == 0) return found;
  if (error != ENOENT && error != ENOTDIR && error != ESTALE)
    throw io_error("cannot stat", directory.name_of(name), error);
  return std::nullopt;
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

class SharedFile : public SharedOutput {
 public:
  SharedFile(std::string name, std::uint64_t direct_from, Cancel& cancel, Notices notices)
      : name_(std::move(name)), direct_from_(direct_from), cancel_(cancel), notices_(std::move(notices)) {}

  void open(const Place& place) override {
    place_ = place;
    const std::filesystem::path path(name_);
    file_ = path.filename();
    if (file_.empty()) throw io_error("cannot open", name_, EISDIR);
    parent_.emplace(directory_of(path));
    const std::string suffix = fmt::format(".{}-{}", place.id, place.of);
    folder_ =
        shortened_name(parent_->descriptor(), file_, suffix.size() + sizeof new_mark - 1 + random_letters) +
        suffix;
    if (is_append_only(parent_->descriptor())) throw io_error("cannot create", name_, EPERM);
    for (int tries = 0; tries < max_tries; ++tries) {
      if (std::optional<FdSource> existing = parent_->open(file_, cancel_))
        return open_existing(std::move(*existing));
      if (open_current()) return;
      // The file has appeared, so the directory may be a new one, made after another process removed the
      // last.
      handle_ = Fd(-1);
      if (made_folder_ && directory_ && parent_->has(file_)) remove_folder(*directory_);
      directory_.reset();
      cancel_.check();
      std::this_thread::sleep_for(retry_pause);
    }
    throw IoError(fmt::format("{} was removed again and again", parent_->name_of(folder_)));
  }

  bool is_done() const override { return done_ || is_complete_; }

  std::optional<std::size_t> place_in_page() const override {
    return data_ ? data_->place_in_page() : std::nullopt;
  }

  // write_share() in tests/models/into.pml
  void write(std::span<const std::byte> bytes) override {
    if (data_)
      unless_complete([&] {
        if (!has_names(AT_STATX_SYNC_AS_STAT)) check_current();
        data_->write(bytes);
      });
    if (compared_) {
      std::vector<std::byte> there(bytes.size());
      compared_->read_at(place_.offset + at_, there);
      if (!std::ranges::equal(there, bytes)) throw file_exists(name_);
    }
    at_ += bytes.size();
  }

  // Closes the data: some file systems keep a file that is removed while it is open.
  void finish() override {
    if (data_)
      unless_complete([&] {
        check_current();
        data_->sync();  // also writes the bytes held back
        data_->finish();
      });
  }

  void publish(const std::function<void()>& last_step) override {
    last_step();
    if (compared_) {
      parent_->sync();  // the process that named the file may have been killed before it did so
      return remove_finished_folder();
    }
    bool all = false;
    if (!is_complete_)
      unless_complete([&] {
        if (data_) mark_done();
        lock_.reset();
        all = all_done();
        if (!all) sync_folder();
      });
    if (all) return name_file();
    if (is_complete_)
      notices_.note(fmt::format("share {}/{} of {} is already complete", place_.share, place_.of, name_));
    parent_->sync();  // the name of the directory, or of the file
  }

 private:
  enum class State { unfinished, complete, removed };

  // Does a step that may fail because other processes have completed the file, and then ends the work on it.
  template <class Step>
  void unless_complete(const Step& step) {
    try {
      step();
    } catch (const IoError&) {
      if (state() != State::complete) throw;
      data_.reset();
      lock_.reset();
      is_complete_ = true;
    }
  }

  // Returns false if the directory was removed in the meantime, which can make any call fail.
  // process in tests/models/into.pml
  bool open_current() {
    try {
      if (!open_folder() || !find_data()) return false;
      bool is_current = false;
      unless_complete([&] {
        lock_share();
        const State now = state();
        if (now == State::complete) throw_replaced();
        is_current = now == State::unfinished && has_names(AT_STATX_FORCE_SYNC) && open_data();
      });
      if (!is_current && !is_complete_) return lock_.reset(), false;
      if (data_ && place_.file_bytes >= direct_from_) begin_direct();
      return true;
    } catch (const IoError&) {
      struct stat opened {};
      const bool is_open = directory_ && fstat(directory_->descriptor(), &opened) == 0;
      const std::optional<struct stat> named = parent_->status_of(folder_);
      if (!is_open || (named && is_same_inode(*named, opened))) throw;
    }
    data_.reset();
    lock_.reset();
    return false;
  }

  void open_existing(FdSource file) {
    if (file.size() != place_.file_bytes) throw file_exists(name_);
    compared_.emplace(std::move(file));
  }

  // A directory cannot replace another one that is not empty, so the first process to rename its own wins.
  // The data is moved into the directory with the call that may later publish it, so a file system without it
  // is detected here.
  void make_folder() {
    const int parent = parent_->descriptor();
    const std::string temp = with_random_letters(folder_ + new_mark);
    TemporaryName data(parent, with_random_letters(folder_ + new_mark));
    const Directory made = Directory::make(temp, &*parent_);
    const auto clean_up = [&] {
      unlinkat(made.descriptor(), data_name, 0);
      parent_->remove_directory(temp);
    };
    try {
      create(data.get());
      if (!data.move_to(made.descriptor(), data_name)) throw naming_error(name_, errno);
      made_folder_ = renameat(parent, temp.c_str(), parent, folder_.c_str()) == 0;
      const int error = errno;
      if (made_folder_) return;
      if (!parent_->has(folder_)) throw io_error("cannot write", parent_->name_of(folder_), error);
    } catch (...) {
      clean_up();
      throw;
    }
    clean_up();
  }

  // An empty file in the parent directory, with the access that a new file gets there, and the mark of
  // unfinished data, unless the file system has no modes.
  void create(const std::string& file) const {
    Fd fd(openat(parent_->descriptor(), file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    struct stat made {};
    if (fd.get() >= 0 && fstat(fd.get(), &made) == 0)
      fchmod(fd.get(), (made.st_mode & 0777) | unfinished_bit);
    int error = fd.error();
    if (error == 0) error = set_size(fd.get(), place_.file_bytes) ? error_of(fd.close()) : errno;
    if (error != 0 && error != EINTR) throw io_error("cannot write", parent_->name_of(file), error);
  }

  // Returns false if the directory has disappeared.
  bool open_folder() {
    made_folder_ = false;
    if (!parent_->has(folder_)) make_folder();
    std::optional<Directory> folder = parent_->open_private(folder_);
    if (folder) directory_.emplace(std::move(*folder));
    return folder.has_value();
  }

  // lock_share() in tests/models/into.pml
  void lock_share() {
    const std::string lock = lock_of(place_.share);
    Fd fd(openat(directory_->descriptor(), lock.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC,
                 0600));
    if (fd.get() < 0) throw io_error("cannot open", directory_->name_of(lock), fd.error());
    lock_.emplace(std::move(fd), directory_->name_of(lock), cancel_, [this](const std::string& holder) {
      notices_.note(fmt::format("share {}/{} of {} is being written by {}; waiting", place_.share, place_.of,
                                name_, holder));
    });
    if (lock_->error() == 0 || std::exchange(warned_, true)) return;
    notices_.warn(fmt::format("{}; do not run share {}/{} of {} twice at the same time",
                              io_error("cannot lock", directory_->name_of(lock), lock_->error()).what(),
                              place_.share, place_.of, name_));
  }

  // Returns false if the directory contains no data, or data that has already become the file.
  bool find_data() {
    const std::string name = directory_->name_of(data_name);
    handle_ = Fd(openat(directory_->descriptor(), data_name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    const bool is_missing = handle_.error() == ENOENT;
    if (!is_missing && handle_.get() < 0) throw io_error("cannot open", name, handle_.error());
    constexpr int flags = AT_EMPTY_PATH | AT_STATX_FORCE_SYNC;
    if (!is_missing && statx(handle_.get(), "", flags, STATX_BASIC_STATS, &data_status_) != 0)
      throw io_error("cannot stat", name, errno);
    if (is_missing || data_status_.stx_nlink > 1) {
      handle_ = Fd(-1);
      return remove_folder(*directory_), false;
    }
    if (!S_ISREG(data_status_.stx_mode)) throw IoError(fmt::format("{} is not a regular file", name));
    return true;
  }

  // Unless the share is complete. Returns false if the data has been moved in the meantime.
  bool open_data() {
    const std::string name = directory_->name_of(data_name);
    done_ = directory_->has(mark_of(place_.share));
    if (done_) return true;
    Fd fd(openat(directory_->descriptor(), data_name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
    if (fd.error() == ENOENT) return false;
    struct statx opened {};
    if (fd.get() < 0) throw io_error("cannot open", name, fd.error());
    if (statx(fd.get(), "", AT_EMPTY_PATH, STATX_BASIC_STATS, &opened) != 0)
      throw io_error("cannot stat", name, errno);
    if (!is_data(opened)) return false;
    data_ = std::make_unique<FileSink>(std::move(fd), name, cancel_, place_.offset);
    data_->check_calls([this] { check_state(); });
    return true;
  }

  // Allocates space for the share, to limit fragmentation when several processes write, if this leaves as
  // much to others. Errors are ignored: if the disk is full, a later write fails. The size, which is set
  // already, must stay: another process may have completed the file in the meantime.
  void begin_direct() {
    data_->begin_direct();
    if (data_->is_direct() && data_->free_bytes() / 2 >= place_.bytes)
      data_->reserve(place_.offset, place_.bytes);
  }

  // What the server says of the data. It also shows the times, for which NFS first sends what was written
  // before: a host that was down then has at most one write to send.
  State state() const {
    struct statx now {};
    constexpr int flags = AT_EMPTY_PATH | AT_STATX_FORCE_SYNC;
    const int error = error_of(statx(handle_.get(), "", flags, STATX_BASIC_STATS, &now));
    if (error == ESTALE || error == ENOENT || error == EBADF) return State::removed;
    if (error != 0) throw io_error("cannot stat", directory_->name_of(data_name), error);
    if (is_marked(data_status_.stx_mode) ? !is_marked(now.stx_mode) : now.stx_nlink > 1)
      return State::complete;
    return now.stx_nlink == 0 ? State::removed : State::unfinished;
  }

  // Whether the data has its name, and there is no file yet.
  bool has_names(int sync) const {
    const std::optional<struct statx> data = find(*parent_, fmt::format("{}/{}", folder_, data_name), sync);
    return data && is_data(*data) && !find(*parent_, file_, sync);
  }

  bool is_data(const struct statx& file) const {
    return file.stx_ino == data_status_.stx_ino && file.stx_dev_major == data_status_.stx_dev_major &&
           file.stx_dev_minor == data_status_.stx_dev_minor;
  }

  // A process that was stopped may go on after another has completed the file, which may have changed since.
  // Without modes, only names show that.
  void check_state() const {
    if (state() != State::unfinished ||
        (!is_marked(data_status_.stx_mode) && !has_names(AT_STATX_FORCE_SYNC)))
      throw_replaced();
  }

  void check_current() const {
    if (state() != State::unfinished || !has_names(AT_STATX_FORCE_SYNC)) throw_replaced();
  }

  [[noreturn]] void throw_replaced() const {
    throw IoError(fmt::format("{} was completed or replaced by another process", name_),
                  "run the command again");
  }

  // Makes the mark survive a system crash, unless another process has completed the file.
  void sync_folder() const {
    try {
      directory_->sync();
    } catch (const IoError&) {
      if (parent_->has(folder_)) throw;
    }
  }

  // What a process left that ended before it had removed the directory.
  void remove_finished_folder() const {
    const std::optional<Directory> folder = parent_->open_private(folder_);
    if (!folder) return;
    const std::optional<struct stat> data = folder->status_of(data_name);
    const std::optional<struct stat> file = parent_->status_of(file_);
    if (!data || (file && is_same_inode(*data, *file))) remove_folder(*folder);
  }

  // mark_done() in tests/models/into.pml
  void mark_done() const {
    check_current();
    const std::string mark = mark_of(place_.share);
    const Fd fd(
        openat(directory_->descriptor(), mark.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (fd.get() < 0) throw io_error("cannot open", directory_->name_of(mark), fd.error());
  }

  // Begins with the next share, which is the least likely to be complete.
  bool all_done() const {
    for (std::uint32_t i = 1; i < place_.of; ++i) {
      cancel_.check();
      if (!directory_->has(mark_of((place_.share + i) % place_.of))) return false;
    }
    return true;
  }

  // Several processes may find all shares complete at the same time. For all but one, the data is gone.
  // name_file() in tests/models/into.pml
  void name_file() {
    const int from = directory_->descriptor(), to = parent_->descriptor();
    remove_mark();
    handle_ = Fd(-1);  // NFS renames a file that is open instead of removing it
    if (!give_new_name(from, data_name, to, file_) && errno != ENOENT) {
      const int error = errno;
      if (!is_published()) {
        IoError failure = error == EEXIST ? file_exists(name_) : naming_error(name_, error);
        struct statx there {};
        const std::string data = directory_->name_of(data_name);
        if (statx(AT_FDCWD, data.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &there) == 0 &&
            is_data(there))
          failure.set_hint(fmt::format("the complete output is in {}", data));
        throw failure;
      }
    }
    parent_->sync();
    remove_folder(*directory_);
  }

  // From now on, no process writes the data.
  void remove_mark() const {
    const std::string name = directory_->name_of(data_name);
    Fd fd(openat(directory_->descriptor(), data_name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
    if (fd.error() == ENOENT) return;
    struct stat now {};
    if (fd.get() < 0) throw io_error("cannot open", name, fd.error());
    if (fstat(fd.get(), &now) != 0) throw io_error("cannot stat", name, errno);
    if (is_marked(now.st_mode) && fchmod(fd.get(), now.st_mode & 0777 & ~unfinished_bit) != 0)
      throw io_error("cannot set the mode of", name, errno);
    FileSink data(std::move(fd), name, cancel_);
    data.sync();  // the mode, before the name; the process that set it may have been killed before it did so
    data.finish();
  }

  // Whether the file that exists is the data, or a copy.
  bool is_published() const {
    const std::optional<FdSource> file = parent_->open(file_, cancel_);
    const std::optional<FdSource> data = directory_->open(data_name, cancel_);
    if (!file || !data) return file.has_value();
    return is_same_inode(file->status(), data->status()) || is_equal_file(*file, *data);
  }

  // remove_folder() in tests/models/into.pml
  void remove_folder(const Directory& folder) const {
    folder.remove(data_name);  // first: without it, what else is left shows nothing
    for (std::uint32_t i = 0; i < place_.of; ++i)
      for (const std::string& file : {mark_of(i), lock_of(i)}) folder.remove(file);
    parent_->remove_directory(folder_);
  }

  const std::string name_;
  const std::uint64_t direct_from_;
  Cancel& cancel_;
  const Notices notices_;
  Place place_{};
  std::optional<Directory> parent_, directory_;
  std::string file_, folder_;  // their names in the parent
  bool made_folder_ = false;
  std::optional<LockFile> lock_;
  bool warned_ = false;               // that there are no locks
  Fd handle_{-1};                     // O_PATH: the data
  struct statx data_status_ {};       // when it was found
  std::unique_ptr<FileSink> data_;    // null if the file exists, or the share is complete
  bool done_ = false;                 // another process has completed the share
  bool is_complete_ = false;          // other processes have completed the file
  std::optional<FdSource> compared_;  // the file that exists
  std::uint64_t at_ = 0;              // bytes of the share so far
};

}  // namespace

std::unique_ptr<SharedOutput> SharedOutput::make(std::string name, std::uint64_t direct_from, Cancel& cancel,
                                                 Notices notices) {
  return std::make_unique<SharedFile>(std::move(name), direct_from, cancel, std::move(notices));
}

}  // namespace gpuaes
