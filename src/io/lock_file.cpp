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
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {
namespace {

using namespace std::chrono_literals;

constexpr auto touch_interval = 5s;  // longer than the unit of times in any file system
constexpr auto patience = 60s;       // with a holder that does not touch the file
constexpr auto pause = 100ms;

// The lock belongs to the open file description, so closing another descriptor of the file does not release
// it.
bool takes_lock(int fd, const std::string& name) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  while (fcntl(fd, F_OFD_SETLK, &whole) != 0) {
    if (errno == EAGAIN || errno == EACCES) return false;
    if (errno != EINTR) throw io_error("cannot lock", name, errno);
  }
  return true;
}

// When the file was last touched, according to the server of a network file system.
timespec touched(int fd, const std::string& name) {
  struct statx status {};
  if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_MTIME, &status) != 0)
    throw io_error("cannot stat", name, errno);
  return {status.stx_mtime.tv_sec, status.stx_mtime.tv_nsec};
}

void touch_until(const std::stop_token& over, int fd) {
  std::mutex mutex;
  std::condition_variable_any condition;
  std::unique_lock lock(mutex);
  while (!condition.wait_for(lock, over, touch_interval, [&] { return over.stop_requested(); }))
    futimens(fd, nullptr);
}

}  // namespace

LockFile::LockFile(Fd file, std::string name, Cancel& cancel,
                   const std::function<void(const std::string&)>& waiting)
    : file_(std::move(file)), name_(std::move(name)) {
  const int fd = file_.get();
  std::optional<timespec> seen;
  // Counts instead of looking at a clock, because this process may have been stopped, too.
  for (int unchanged = 0; !takes_lock(fd, name_); ++unchanged) {
    const timespec now = touched(fd, name_);
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
  const std::string text = fmt::format("process {} on {}\n", getpid(), host_name());
  if (!set_size(fd, 0)) throw io_error("cannot write", name_, errno);
  FdSink(Fd(fcntl(fd, F_DUPFD_CLOEXEC, 0)), name_, cancel).write(bytes_of(text));
  toucher_ = std::jthread([fd](const std::stop_token& over) { touch_until(over, fd); });
}

std::string LockFile::holder() const {
  std::array<char, HOST_NAME_MAX + 64> text{};
  const ssize_t size = pread(file_.get(), text.data(), text.size(), 0);
  std::string_view rest(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  const std::string_view line = take_line(rest);
  return line.empty() ? "another process" : std::string(line);
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') name[0] = '-';
  std::ranges::replace(name, '/', '-');
  return name.data();
}

}  // namespace gpuaes
