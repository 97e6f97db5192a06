#include "terminal/prompt.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

namespace gpuaes {
namespace {

constexpr const char* controlling_terminal = "/dev/tty";
constexpr const char* terminal = "the terminal";  // in messages

bool may_ask_on_standard_input = false;
bool keeps_other_input = false;

// How long a process continued in the background leaves the terminal alone: a fatal signal may arrive with
// SIGCONT, as with the shell's `kill %1`.
constexpr std::chrono::seconds background_pause{1};

constexpr std::chrono::milliseconds foreground_check_interval{20};

constexpr std::chrono::milliseconds forever{-1};

// Non-blocking: the file description is new, so no one else is affected.
Fd open_device(const char* name) {
  return Fd(open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
}

// Opens the controlling terminal, or else that of a standard descriptor. Negative if there is no terminal.
Fd try_terminal() {
  Fd controlling = open_device(controlling_terminal);
  if (controlling.get() >= 0) return controlling;
  for (const int standard : {STDERR_FILENO, STDIN_FILENO}) {
    std::array<char, PATH_MAX> name{};
    const bool allowed = standard != STDIN_FILENO || may_ask_on_standard_input;
    if (!allowed || ttyname_r(standard, name.data(), name.size()) != 0) continue;
    if (Fd fd = open_device(name.data()); fd.get() >= 0) return fd;
  }
  return controlling;
}

Fd open_terminal() {
  Fd fd = try_terminal();
  if (fd.error() == ENXIO || fd.error() == ENOENT)
    throw IoError("cannot ask for the passphrase: there is no terminal",
                  "use --passphrase-file or --passphrase-command");
  if (fd.get() < 0) throw io_error("cannot open", controlling_terminal, fd.error());
  return fd;
}

}  // namespace

void ask_on_standard_input(bool allowed) {
  may_ask_on_standard_input = allowed;
}

void keep_other_input() {
  keeps_other_input = true;
}

bool has_terminal() {
  return try_terminal().get() >= 0;
}

Prompt::Prompt(Cancel& cancel, Answers answers)
    : cancel_(cancel),
      terminal_(open_terminal()),
      silenced_(answers == Answers::secret ? ECHO | ECHOE | ECHOK | ECHONL : 0) {}

std::size_t Prompt::ask(std::string_view question, std::span<std::byte> out) {
  for (;;) {
    if (prepare() && say(question))
      if (const std::optional<std::size_t> size = read_line(out)) {
        if (silenced_ != 0) say("\n");
        return *size;
      }
    follow_signal();
  }
}

void Prompt::show(std::string_view text) {
  while (!prepare() || !say(text)) follow_signal();
}

// Repeats a call while it is interrupted or not ready.
template <class Call>
std::optional<std::size_t> Prompt::attempt(std::string_view failure, short events, Call call) {
  for (;;) {
    cancel_.check();
    if (JobSignals::last() == SIGCONT && is_prepared()) JobSignals::discard(SIGCONT);
    if (JobSignals::last() != 0) return std::nullopt;
    const ssize_t result = call();
    if (result >= 0) return static_cast<std::size_t>(result);
    if (errno == EAGAIN)
      JobSignals::wait(terminal_.get(), events, forever, cancel_);
    else if (errno != EINTR)
      throw io_error(failure, terminal, errno);
  }
}

// In the background, the kernel sends SIGTTOU, or returns EIO if the process group is orphaned.
bool Prompt::prepare() {
  if (prepared_ && is_prepared()) return true;
  if (tcgetattr(terminal_.get(), &before_) != 0)
    throw io_error("cannot read the settings of", terminal, errno);
  struct termios wanted = before_;
  wanted.c_lflag &= ~silenced_;
  const auto set = [&] { return tcsetattr(terminal_.get(), TCSANOW, &wanted); };
  if (!attempt("cannot change the settings of", 0, set)) return false;
  prepared_ = true;
  discard_input();
  return true;
}

bool Prompt::say(std::string_view text) {
  while (!text.empty()) {
    const auto count =
        attempt("cannot write", POLLOUT, [&] { return ::write(terminal_.get(), text.data(), text.size()); });
    if (!count) return false;
    text.remove_prefix(*count);
  }
  return true;
}

std::optional<std::size_t> Prompt::read_line(std::span<std::byte> out) {
  std::array<std::byte, 256> rest{};  // for input that does not fit
  for (std::size_t size = 0;;) {
    const std::span<std::byte> room = size < out.size() ? out.subspan(size) : rest;
    const auto count =
        attempt("cannot read", POLLIN, [&] { return ::read(terminal_.get(), room.data(), room.size()); });
    if (!count) return std::nullopt;
    const bool ends = *count > 0 && room[*count - 1] == std::byte{'\n'};
    explicit_bzero(rest.data(), rest.size());
    if (size < out.size()) size += *count - (ends ? 1 : 0);
    ended_ = *count == 0;
    if (ends || ended_) return size;
  }
}

// A shell changes the settings when it stops or continues a job.
bool Prompt::is_prepared() const {
  struct termios now {};
  return tcgetattr(terminal_.get(), &now) == 0 && (now.c_lflag & silenced_ & ECHO) == 0;
}

// Does not wait for output, which the user may have stopped (^S). Does nothing in the background, where the
// settings belong to another process.
void Prompt::restore() {
  if (!std::exchange(prepared_, false) || !in_foreground(terminal_.get())) return;
  tcsetattr(terminal_.get(), TCSANOW, &before_);
  discard_input();
}

void Prompt::discard_input() {
  if (!keeps_other_input) tcflush(terminal_.get(), TCIFLUSH);
}

void Prompt::follow_signal() {
  const int signal = JobSignals::take();
  if (signal == 0 || signal == SIGCONT) return;
  restore();
  JobSignals::stop_by(signal);
  await_foreground();
}

// Gives up after background_pause, or when another job-control signal arrives.
void Prompt::await_foreground() {
  const auto end = std::chrono::steady_clock::now() + background_pause;
  for (;;) {
    JobSignals::discard(SIGCONT);
    if (JobSignals::last() != 0 || in_foreground(terminal_.get()) || std::chrono::steady_clock::now() >= end)
      return;
    JobSignals::wait(-1, 0, foreground_check_interval, cancel_);
  }
}

}  // namespace gpuaes
