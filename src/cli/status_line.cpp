#include "cli/status_line.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace gpuaes {
namespace {

constexpr int fd = STDERR_FILENO;
constexpr std::chrono::milliseconds patience{100}, retry_after{1};

// Output from the background overwrites that of the foreground program, and SIGTTOU stops the writer if
// TOSTOP is set. Neither applies if the terminal is not our controlling terminal.
bool in_foreground() {
  const pid_t group = tcgetpgrp(fd);
  return group < 0 || group == getpgrp();
}

bool would_be_stopped() {
  struct termios settings {};
  return !in_foreground() && tcgetattr(fd, &settings) == 0 && (settings.c_lflag & TOSTOP) != 0;
}

// If poll() reports room, a pipe has room for a whole line; so does a terminal, unless its buffer is almost
// full.
bool has_room(std::chrono::milliseconds time) {
  struct pollfd entry {
    fd, POLLOUT, 0
  };
  return poll(&entry, 1, static_cast<int>(time.count())) == 1;
}

// One write per line keeps the lines of several threads or programs apart. There is nowhere to report an
// error.
void write(const std::string& text) {
  [[maybe_unused]] const auto written = ::write(fd, text.data(), text.size());
}

// The thread that has the lock may be waiting for standard error indefinitely.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex) {
  const auto end = std::chrono::steady_clock::now() + patience;
  std::unique_lock lock(mutex, std::defer_lock);
  while (!lock.try_lock() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(retry_after);
  return lock;
}

}  // namespace

std::optional<std::size_t> terminal_columns(int terminal) {
  if (isatty(terminal) == 0) return std::nullopt;
  struct winsize size {};
  const bool known = ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : default_columns;
}

std::optional<std::size_t> StatusLine::columns() const {
  const std::optional<std::size_t> columns = terminal_columns(fd);
  return columns ? std::optional(*columns - 1) : std::nullopt;
}

// Spaces cover the rest of a longer previous line, up to the current width of the terminal.
std::string StatusLine::drawn(const std::string& text) const {
  const std::size_t covered = std::min(shown_, columns().value_or(0));
  return "\r" + text + std::string(covered - std::min(covered, text.size()), ' ');
}

std::string StatusLine::cleared() {
  const std::string clear = shown_ > 0 && in_foreground() ? drawn("") + "\r" : "";
  shown_ = 0;
  return clear;
}

void StatusLine::draw(const std::string& text) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  if (!in_foreground())
    shown_ = 0;  // the program in the foreground may have overwritten it
  else if (has_room({})) {
    write(drawn(text));
    shown_ = text.size();
  }
}

void StatusLine::finish(const std::string& text) {
  const std::unique_lock lock = lock_soon(mutex_);
  if (!lock.owns_lock() || would_be_stopped() || !has_room(patience)) return;
  write(drawn(text) + "\n");
  shown_ = 0;
}

void StatusLine::try_print(const std::string& text) {
  const std::unique_lock lock = lock_soon(mutex_);
  if (lock.owns_lock() && !would_be_stopped() && has_room(patience)) write(cleared() + text + "\n");
}

void StatusLine::print(const std::string& text) {
  const std::lock_guard lock(mutex_);
  while (is_cancelled_ && !has_room(patience))
    if (is_cancelled_()) return;
  write(cleared() + text + "\n");
}

void StatusLine::set_cancelled_check(std::function<bool()> is_cancelled) {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = std::move(is_cancelled);
}

}  // namespace gpuaes
