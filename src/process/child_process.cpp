#include "process/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "base/text.hpp"
#include "process/signals.hpp"

namespace gpuaes {
namespace {

using Clock = std::chrono::steady_clock;

// How long a command may take to end after it was told to, and how often to look.
constexpr std::chrono::seconds patience{5};
constexpr std::chrono::milliseconds look_interval{2};

// Opening CUDA lanes changes CUDA_VISIBLE_DEVICES. setenv(3) does not modify the old strings, so copying the
// pointers is enough.
const std::vector<char*> initial_environment = [] {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
  return variables;
}();

bool is_closed_in_children(int fd) {
  const int flags = fcntl(fd, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) != 0;
}

void check(int error) {
  if (error != 0) throw std::system_error(error, std::generic_category());
}

// In glibc, the functions that initialize these cannot fail.
struct SpawnSettings {
  SpawnSettings() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&signals);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&signals, &none);
    posix_spawnattr_setsigdefault(&signals, &newly_ignored_signals());
    posix_spawnattr_setflags(&signals, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&signals);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t files;
  posix_spawnattr_t signals;
};

}  // namespace

ChildProcess::ChildProcess(Command command, Cancel& cancel)
    : command_(std::move(command)),
      cancel_(cancel),
      input_(command_.input == Command::Input::pipe ? open_pipe() : Pipe()),
      output_(open_pipe()) {}

ChildProcess::~ChildProcess() {
  const int signal = cancel_.signal();
  stop(signal != 0 ? signal : SIGTERM, patience);
}

ChildProcess::Pipe ChildProcess::open_pipe() const {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw io_error("cannot run", command_.name, errno);
  return {Fd(ends[0]), Fd(ends[1])};
}

FdSource ChildProcess::output() {
  FdSource source(std::move(output_.read_end), fmt::format("the output of {}", command_.name), cancel_);
  source.at_end([this] { wait_for_success(); });
  return source;
}

FdSink ChildProcess::input() {
  return {std::move(input_.write_end), fmt::format("the input of {}", command_.name), cancel_};
}

void ChildProcess::start() {
  std::vector<char*> words;
  for (std::string& word : command_.words) words.push_back(word.data());
  words.push_back(nullptr);
  SpawnSettings settings;
  check(posix_spawn_file_actions_adddup2(&settings.files, output_.write_end.get(), STDOUT_FILENO));
  const auto use_null = [&settings](int fd, int mode) {
    check(posix_spawn_file_actions_addopen(&settings.files, fd, "/dev/null", mode, 0));
  };
  if (command_.input == Command::Input::pipe)
    check(posix_spawn_file_actions_adddup2(&settings.files, input_.read_end.get(), STDIN_FILENO));
  else if (command_.input == Command::Input::empty || is_closed_in_children(STDIN_FILENO))
    use_null(STDIN_FILENO, O_RDONLY);
  if (is_closed_in_children(STDERR_FILENO)) use_null(STDERR_FILENO, O_WRONLY);
  if (!command_.directory.empty())
    check(posix_spawn_file_actions_addchdir_np(&settings.files, command_.directory.c_str()));
  ::signal(SIGCHLD, SIG_DFL);  // if it was inherited as ignored, waitpid() would not return the exit status
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, words.front(), &settings.files, &settings.signals, words.data(),
                                 initial_environment.data());
  input_.read_end.close();
  output_.write_end.close();
  if (error != 0) throw io_error("cannot run", command_.name, error);
  pid_ = pid;
}

bool ChildProcess::ends_within(std::chrono::milliseconds time) {
  const Clock::time_point deadline = Clock::now() + time;
  while (pid_ != 0) {
    if (waitpid(pid_, &status_, WNOHANG) == pid_)
      pid_ = 0;
    else if (Clock::now() >= deadline)
      return false;
    else
      std::this_thread::sleep_for(look_interval);
  }
  return true;
}

void ChildProcess::stop(int signal, std::chrono::milliseconds time) {
  if (pid_ == 0) return;
  kill(pid_, signal);
  kill(pid_, SIGCONT);  // if it was stopped
  if (!ends_within(time)) kill(pid_, SIGKILL);
}

std::string ChildProcess::failure() const {
  if (WIFSIGNALED(status_))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status_), strsignal(WTERMSIG(status_)));
  return WEXITSTATUS(status_) != 0 ? fmt::format("failed with exit status {}", WEXITSTATUS(status_)) : "";
}

void ChildProcess::wait_for_success() {
  pid_t ended;
  int error;
  do {
    const Cancel::Blocking blocking(cancel_);
    ended = waitpid(pid_, &status_, 0);
    error = errno;
  } while (ended < 0 && error == EINTR);
  if (ended < 0) throw io_error("cannot wait for", command_.name, error);
  pid_ = 0;
  if (!failure().empty()) throw IoError(fmt::format("{} {}", command_.name, failure()));
}

void close_in_children(const struct stat& file) {
  // Without /proc, no file name refers to a descriptor.
  std::vector<int> open{STDIN_FILENO};
  for (const std::string& name : names_in(Fd(::open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC))))
    if (const auto fd = parse_number<unsigned>(name)) open.push_back(static_cast<int>(*fd));
  struct stat status {};
  for (const int fd : open) {
    const int flags = fcntl(fd, F_GETFL);
    const bool is_readable = flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && isatty(fd) == 0;
    if (is_readable && fstat(fd, &status) == 0 && is_same_inode(status, file)) fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

}  // namespace gpuaes
