// The terminal that controls the process, for what a user types: standard input and output are busy with
// other things.
#pragma once

#include <termios.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "io/cancel.hpp"
#include "io/fd.hpp"

namespace gpuaes {

// While it lives nothing that is typed on /dev/tty is shown. What was typed before is thrown away.
class HiddenPrompt {
 public:
  explicit HiddenPrompt(Cancel& cancel);  // IoError where there is no terminal
  ~HiddenPrompt();
  HiddenPrompt(const HiddenPrompt&) = delete;
  HiddenPrompt& operator=(const HiddenPrompt&) = delete;

  // Writes `question` and reads a line: how many bytes, without the line feed. What does not fit is lost.
  std::size_t ask(std::string_view question, std::span<std::byte> out);

 private:
  FdSource source_;
  FdSink sink_;
  struct termios before_ {};
};

}  // namespace gpuaes
