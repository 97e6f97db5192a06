// Standard error, and the status line that is redrawn there on a terminal. Whole lines are also written here:
// they clear the status line first, so the two never mix.
//
// Standard error may be a stopped terminal or a pipe that is never read. Error messages wait for it; progress
// must not, because the thread that draws it also handles signals.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace gpuaes {

inline constexpr std::size_t usual_columns = 80;

// The width of the terminal at `fd`, or the usual one if the terminal does not know. Nothing if `fd` is not a
// terminal.
std::optional<std::size_t> terminal_columns(int fd);

// All functions may be called from any thread. Texts have no newline.
class StatusLine {
 public:
  // The columns of a status line: one less than the terminal has, so that the cursor stays on it. Nothing if
  // standard error is not a terminal.
  std::optional<std::size_t> columns() const;

  // Redraws the status line. Only for terminals, and not while another process group has the terminal, whose
  // output it would overwrite.
  void draw(const std::string& text);

  // Draws the status line for the last time, with a newline.
  void finish(const std::string& text);

  // Writes a whole line, unless standard error does not take it within a tenth of a second.
  void tell(const std::string& text);

  // Writes a whole line, however long that takes, unless the run is cancelled.
  void print(const std::string& text);

  // From now on, print() gives up once `is_cancelled` returns true. Empty: it never does.
  void set_cancelled_check(std::function<bool()> is_cancelled);

 private:
  std::string cleared();
  std::string drawn(const std::string& text) const;

  std::mutex mutex_;  // guards the rest
  std::function<bool()> is_cancelled_;
  std::size_t shown_ = 0;  // columns of the status line when it was drawn; 0 without one
};

}  // namespace gpuaes
