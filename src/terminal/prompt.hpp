// The terminal where a user types passphrases: standard input and output are used for data.
#pragma once

#include <termios.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "io/cancel.hpp"
#include "io/fd.hpp"
#include "process/signals.hpp"

namespace gpuaes {

// Allows or forbids questions on standard input, which are safe only if it is not used for data. Forbidden by
// default.
void ask_on_standard_input(bool allowed);

// Keeps input typed before the first question or after the last answer, as age does, for a later question or
// another program. By default, it is discarded.
void keep_other_input();

// Whether there is a terminal to ask on.
bool has_terminal();

// Asks questions on the controlling terminal. Without one, as in a rescue shell or after setsid(1), asks on
// the terminal that is standard error or, if that is allowed, standard input. From the first question until
// destruction, typing is echoed only if the answers are open.
//
// While the process is stopped (^Z), the terminal has its old settings. When it continues, echo is turned off
// and the question is repeated.
class Prompt {
 public:
  enum class Answers { secret, open };

  // IoError if there is no terminal.
  explicit Prompt(Cancel& cancel, Answers answers = Answers::secret);
  ~Prompt() { restore(); }
  Prompt(const Prompt&) = delete;
  Prompt& operator=(const Prompt&) = delete;

  // Writes `question`, reads a line into `out` and returns its length without the newline. If the line does
  // not fit, discards the rest and returns out.size(). IoError, Cancelled.
  std::size_t ask(std::string_view question, std::span<std::byte> out);

  void show(std::string_view text);  // IoError, Cancelled

  // Whether the last answer was the end of the input (^D) instead of a line.
  bool ended() const { return ended_; }

 private:
  // False or none if a job-control signal arrived first.
  bool prepare();
  bool say(std::string_view text);
  std::optional<std::size_t> read_line(std::span<std::byte> out);
  template <class Call>
  std::optional<std::size_t> attempt(std::string_view failure, short events, Call call);

  bool is_prepared() const;
  void restore();
  void discard_input();
  void follow_signal();
  void await_foreground();

  Cancel& cancel_;
  Fd terminal_;
  JobSignals signals_;
  const tcflag_t silenced_;  // the flags that make the terminal echo, if it must not
  bool prepared_ = false;
  bool ended_ = false;
  struct termios before_ {};  // valid while prepared_
};

}  // namespace gpuaes
