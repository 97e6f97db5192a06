#include "io/lock_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "io/fd_source_sink.hpp"
#include "io/naming.hpp"

namespace gpuaes {
namespace {

using namespace std::chrono_literals;

constexpr auto touch_interval = 5s;  // longer than the unit of times in any file system
constexpr auto patience = 60s;       // with a holder that does not touch the file
constexpr auto pause = 100ms;

// Returns 0, or EAGAIN if another process holds the lock, or another errno value. The lock belongs to the
// open file description, so closing another descriptor of the file does not release it.
int lock_file(int fd) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  while (fcntl(fd, F_OFD_SETLK, &whole) != 0) {
    if (errno == EACCES || errno == EDEADLK) return EAGAIN;
    if (errno != EINTR) return errno;
  }
  return 0;
}

// Whether the file system lacks locks, like Lustre mounted without flock.
bool lacks_locks(int error) {
  constexpr int not_supported = 524;  // ENOTSUPP, which some file systems return
  return error == ENOSYS || error == ENOLCK || error == EINVAL || error == EOPNOTSUPP ||
         error == not_supported;
}

// When the file was last touched, according to the server of a network file system.
timespec touched(int fd, const std::string& name) {
  struct statx status {};
  if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_MTIME, &status) != 0)
    throw io_error("cannot stat", name, errno);
  return {status.stx_mtime.tv_sec, status.stx_mtime.tv_nsec};
}

}  // namespace

LockFile::LockFile(Fd file, std::string name, Cancel& cancel,
                   const std::function<void(const std::string&)>& waiting)
    : file_(std::move(file)), name_(std::move(name)) {
  wait(cancel, waiting);
  const std::string text = fmt::format("process {} on {}\n", getpid(), host_name());
  if (!set_size(file_.get(), 0)) throw io_error("cannot write", name_, errno);
  FdSink(Fd(fcntl(file_.get(), F_DUPFD_CLOEXEC, 0)), name_, cancel).write(bytes_of(text));
  toucher_ = std::jthread([this](const std::stop_token& over) { touch_until(over); });
}

void LockFile::wait(Cancel& cancel, const std::function<void(const std::string&)>& waiting) {
  std::optional<timespec> seen;
  // Counts instead of looking at a clock, because this process may have been stopped, too.
  for (int unchanged = 0; (error_ = lock_file(file_.get())) != 0; ++unchanged) {
    if (lacks_locks(error_)) return;
    if (error_ != EAGAIN) throw io_error("cannot lock", name_, error_);
    const timespec now = touched(file_.get(), name_);
    if (!seen) waiting(holder());
    if (!seen || !is_same_time(*seen, now)) {
      seen = now;
      unchanged = 0;
    } else if (unchanged > patience / pause) {
      throw IoError(fmt::format("{} is held by {}, which has not touched it for a minute", name_, holder()),
                    "end that process, if its host is running, and try again");
    }
    cancel.check();
    std::this_thread::sleep_for(pause);
  }
}

std::string LockFile::holder() const {
  std::array<char, HOST_NAME_MAX + 64> text{};
  const ssize_t size = pread(file_.get(), text.data(), text.size(), 0);
  std::string_view rest(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  const std::string_view line = take_line(rest);
  return line.empty() ? "another process" : std::string(line);
}

void LockFile::touch_until(const std::stop_token& over) {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, over, touch_interval, [&] { return over.stop_requested(); }))
    futimens(file_.get(), nullptr);
}

}  // namespace gpuaes
