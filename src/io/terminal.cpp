#include "io/terminal.hpp"

#include <fcntl.h>
#include <termios.h>

#include <cerrno>

#include "io/fd.hpp"

namespace gpuaes {
namespace {

constexpr const char* terminal = "/dev/tty";

Fd open_terminal(int flags, Cancel& cancel) {
  try {
    return open_file(terminal, flags | O_NOCTTY, cancel);
  } catch (const IoError& error) {
    throw IoError(error.what(), "without a terminal, --passphrase-file reads the passphrase from a file");
  }
}

// Without echo from here to the end of the scope. What was typed before it is thrown away.
class NoEcho {
 public:
  explicit NoEcho(int fd) : fd_(fd) {
    if (tcgetattr(fd_, &before_) != 0) throw io_error("read the settings of", terminal, errno);
    struct termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHOE | ECHOK | ECHONL);
    if (tcsetattr(fd_, TCSAFLUSH, &silent) != 0) throw io_error("change the settings of", terminal, errno);
  }
  ~NoEcho() { tcsetattr(fd_, TCSAFLUSH, &before_); }
  NoEcho(const NoEcho&) = delete;
  NoEcho& operator=(const NoEcho&) = delete;

 private:
  int fd_;
  struct termios before_ {};
};

}  // namespace

std::size_t ask_hidden(std::string_view prompt, std::span<std::byte> out, Cancel& cancel) {
  FdSource source(open_terminal(O_RDONLY, cancel), terminal, cancel);
  FdSink sink(open_terminal(O_WRONLY, cancel), terminal, cancel);
  const auto say = [&sink](std::string_view text) { sink.write(std::as_bytes(std::span(text))); };
  const NoEcho no_echo(sink.fd().get());
  say(prompt);
  std::size_t size = 0;
  while (size < out.size()) {
    const std::size_t count = source.read(out.subspan(size));
    size += count;
    if (count == 0 || out[size - 1] == std::byte{'\n'}) break;
  }
  say("\n");
  return size > 0 && out[size - 1] == std::byte{'\n'} ? size - 1 : size;
}

}  // namespace gpuaes
