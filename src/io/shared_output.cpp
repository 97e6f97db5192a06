#include "io/shared_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "io/directory.hpp"
#include "io/file_sink.hpp"
#include "io/lock_file.hpp"
#include "io/naming.hpp"
#include "io/shared_folder.hpp"

namespace gpuaes {
namespace {

constexpr int max_tries = 100;                        // for a directory that other processes make and remove
constexpr std::chrono::milliseconds retry_pause{20};  // in all, longer than FUSE file systems cache names

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

constexpr const char* data_name = SharedFolder::data_name;

class SharedFile : public SharedOutput {
 public:
  SharedFile(std::string name, std::uint64_t direct_from, Cancel& cancel, Notices notices)
      : name_(std::move(name)), direct_from_(direct_from), cancel_(cancel), notices_(std::move(notices)) {}

  void open(const Place& place) override {
    place_ = place;
    folder_.emplace(name_, place);
    for (int tries = 0; tries < max_tries; ++tries) {
      if (std::optional<FdSource> existing = folder_->parent().open(folder_->file(), cancel_))
        return open_existing(std::move(*existing));
      if (open_current()) return;
      handle_ = Fd(-1);
      folder_->close();
      cancel_.check();
      std::this_thread::sleep_for(retry_pause);
    }
    throw IoError(fmt::format("{} was removed again and again", folder_->name()));
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
      folder_->parent().sync();  // the process that named the file may have been killed before it did so
      return folder_->remove_finished();
    }
    bool all = false;
    if (!is_complete_)
      unless_complete([&] {
        if (data_) mark_done();
        lock_.reset();
        all = folder_->all_done(cancel_);
        if (!all) folder_->sync();
      });
    if (all) return name_file();
    if (is_complete_)
      notices_.note(fmt::format("share {}/{} of {} is already complete", place_.share, place_.of, name_));
    folder_->parent().sync();  // the name of the directory, or of the file
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
      if (!folder_->open() || !find_data()) return false;
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
      if (!folder_->has_disappeared()) throw;
    }
    data_.reset();
    lock_.reset();
    return false;
  }

  void open_existing(FdSource file) {
    if (file.size() != place_.file_bytes) throw file_exists(name_);
    compared_.emplace(std::move(file));
  }

  // lock_share() in tests/models/into.pml
  void lock_share() {
    std::string lock;
    Fd fd = folder_->open_lock(lock);
    lock_.emplace(std::move(fd), lock, cancel_, [this](const std::string& holder) {
      notices_.note(fmt::format("share {}/{} of {} is being written by {}; waiting", place_.share, place_.of,
                                name_, holder));
    });
    if (lock_->error() == 0 || std::exchange(warned_, true)) return;
    notices_.warn(fmt::format("{}; do not run share {}/{} of {} twice at the same time",
                              io_error("cannot lock", lock, lock_->error()).what(), place_.share, place_.of,
                              name_));
  }

  // Returns false if the directory contains no data, or data that has already become the file.
  bool find_data() {
    const std::string name = folder_->get().name_of(data_name);
    handle_ = Fd(openat(folder_->get().descriptor(), data_name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    const bool is_missing = handle_.error() == ENOENT;
    if (!is_missing && handle_.get() < 0) throw io_error("cannot open", name, handle_.error());
    constexpr int flags = AT_EMPTY_PATH | AT_STATX_FORCE_SYNC;
    if (!is_missing && statx(handle_.get(), "", flags, STATX_BASIC_STATS, &data_status_) != 0)
      throw io_error("cannot stat", name, errno);
    if (is_missing || data_status_.stx_nlink > 1) {
      handle_ = Fd(-1);
      return folder_->remove(), false;
    }
    if (!S_ISREG(data_status_.stx_mode)) throw IoError(fmt::format("{} is not a regular file", name));
    return true;
  }

  // Unless the share is complete. Returns false if the data has been moved in the meantime.
  bool open_data() {
    const std::string name = folder_->get().name_of(data_name);
    done_ = folder_->is_done();
    if (done_) return true;
    Fd fd(openat(folder_->get().descriptor(), data_name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
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
    if (error != 0) throw io_error("cannot stat", folder_->get().name_of(data_name), error);
    if (SharedFolder::is_marked(data_status_.stx_mode) ? !SharedFolder::is_marked(now.stx_mode)
                                                       : now.stx_nlink > 1)
      return State::complete;
    return now.stx_nlink == 0 ? State::removed : State::unfinished;
  }

  // Whether the data has its name, and there is no file yet.
  bool has_names(int sync) const {
    const std::optional<struct statx> data = find(folder_->parent(), folder_->data_in_parent(), sync);
    return data && is_data(*data) && !find(folder_->parent(), folder_->file(), sync);
  }

  bool is_data(const struct statx& file) const {
    return file.stx_ino == data_status_.stx_ino && file.stx_dev_major == data_status_.stx_dev_major &&
           file.stx_dev_minor == data_status_.stx_dev_minor;
  }

  // A process that was stopped may go on after another has completed the file, which may have changed since.
  // Without modes, only names show that.
  void check_state() const {
    if (state() != State::unfinished ||
        (!SharedFolder::is_marked(data_status_.stx_mode) && !has_names(AT_STATX_FORCE_SYNC)))
      throw_replaced();
  }

  void check_current() const {
    if (state() != State::unfinished || !has_names(AT_STATX_FORCE_SYNC)) throw_replaced();
  }

  [[noreturn]] void throw_replaced() const {
    throw IoError(fmt::format("{} was completed or replaced by another process", name_),
                  "run the command again");
  }

  // mark_done() in tests/models/into.pml
  void mark_done() const {
    check_current();
    folder_->mark_done();
  }

  // Several processes may find all shares complete at the same time. For all but one, the data is gone.
  // name_file() in tests/models/into.pml
  void name_file() {
    const int from = folder_->get().descriptor(), to = folder_->parent().descriptor();
    remove_mark();
    handle_ = Fd(-1);  // NFS renames a file that is open instead of removing it
    if (!give_new_name(from, data_name, to, folder_->file()) && errno != ENOENT) {
      const int error = errno;
      if (!is_published()) {
        IoError failure = error == EEXIST ? file_exists(name_) : naming_error(name_, error);
        struct statx there {};
        const std::string data = folder_->get().name_of(data_name);
        if (statx(AT_FDCWD, data.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &there) == 0 &&
            is_data(there))
          failure.set_hint(fmt::format("the complete output is in {}", data));
        throw failure;
      }
    }
    folder_->parent().sync();
    folder_->remove();
  }

  // From now on, no process writes the data.
  void remove_mark() const {
    const std::string name = folder_->get().name_of(data_name);
    Fd fd(openat(folder_->get().descriptor(), data_name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
    if (fd.error() == ENOENT) return;
    struct stat now {};
    if (fd.get() < 0) throw io_error("cannot open", name, fd.error());
    if (fstat(fd.get(), &now) != 0) throw io_error("cannot stat", name, errno);
    if (SharedFolder::is_marked(now.st_mode) &&
        fchmod(fd.get(), now.st_mode & 0777 & ~SharedFolder::unfinished_bit) != 0)
      throw io_error("cannot set the mode of", name, errno);
    FileSink data(std::move(fd), name, cancel_);
    data.sync();  // the mode, before the name; the process that set it may have been killed before it did so
    data.finish();
  }

  // Whether the file that exists is the data, or a copy.
  bool is_published() const {
    const std::optional<FdSource> file = folder_->parent().open(folder_->file(), cancel_);
    const std::optional<FdSource> data = folder_->get().open(data_name, cancel_);
    if (!file || !data) return file.has_value();
    return is_same_inode(file->status(), data->status()) || is_equal_file(*file, *data);
  }

  const std::string name_;
  const std::uint64_t direct_from_;
  Cancel& cancel_;
  const Notices notices_;
  Place place_{};
  std::optional<SharedFolder> folder_;
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
