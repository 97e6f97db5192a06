// The controlling terminal, where a user types passphrases: standard input and output are used for data.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "io/cancel.hpp"
#include "io/fd.hpp"
#include "process/signals.hpp"

namespace gpuaes {

// Whether there is a terminal to ask on.
bool has_terminal();

// Asks for secrets on /dev/tty. From the first question until destruction, typing is not echoed. Input typed
// before the first question or after the last answer is discarded.
//
// While the process is stopped (^Z), the terminal has its old settings. When it continues, echo is turned off
// and the question is repeated.
class HiddenPrompt {
 public:
  explicit HiddenPrompt(Cancel& cancel);  // IoError if there is no terminal
  ~HiddenPrompt() { show(); }
  HiddenPrompt(const HiddenPrompt&) = delete;
  HiddenPrompt& operator=(const HiddenPrompt&) = delete;

  // Writes `question`, reads a line into `out` and returns its length without the newline. If the line does
  // not fit, discards the rest and returns out.size(). IoError, Cancelled.
  std::size_t ask(std::string_view question, std::span<std::byte> out);

 private:
  // False or none if a job-control signal arrived first.
  bool hide();
  bool say(std::string_view text);
  std::optional<std::size_t> read_line(std::span<std::byte> out);
  template <class Call>
  std::optional<std::size_t> attempt(std::string_view failure, short events, Call call);

  bool is_foreground() const;
  bool is_hidden() const;
  void show();
  void follow_signal();
  void await_foreground();

  Cancel& cancel_;
  Fd terminal_;
  JobSignals signals_;
  bool hidden_ = false;
  struct termios before_ {};  // valid while hidden_
};

}  // namespace gpuaes
