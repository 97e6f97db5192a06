#include "io/terminal.hpp"

#include <fcntl.h>

#include <cerrno>

#include "texts.hpp"

namespace gpuaes {
namespace {

constexpr const char* terminal = "/dev/tty";

Fd open_terminal(int flags, Cancel& cancel) {
  try {
    return open_file(terminal, flags | O_NOCTTY, cancel);
  } catch (const IoError& error) {
    throw IoError(error.what(), text::tty_hint);
  }
}

}  // namespace

HiddenPrompt::HiddenPrompt(Cancel& cancel)
    : source_(open_terminal(O_RDONLY, cancel), terminal, cancel),
      sink_(open_terminal(O_WRONLY, cancel), terminal, cancel) {
  if (tcgetattr(sink_.fd().get(), &before_) != 0) throw io_error(text::cannot_read_settings, terminal, errno);
  struct termios silent = before_;
  silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHOE | ECHOK | ECHONL);
  if (tcsetattr(sink_.fd().get(), TCSAFLUSH, &silent) != 0)
    throw io_error(text::cannot_change_settings, terminal, errno);
}

HiddenPrompt::~HiddenPrompt() {
  tcsetattr(sink_.fd().get(), TCSADRAIN, &before_);
}

std::size_t HiddenPrompt::ask(std::string_view question, std::span<std::byte> out) {
  const auto say = [this](std::string_view text) { sink_.write(std::as_bytes(std::span(text))); };
  say(question);
  std::size_t size = 0;
  while (size < out.size()) {
    const std::size_t count = source_.read(out.subspan(size));
    size += count;
    if (count == 0 || out[size - 1] == std::byte{'\n'}) break;
  }
  say("\n");
  return size > 0 && out[size - 1] == std::byte{'\n'} ? size - 1 : size;
}

}  // namespace gpuaes
