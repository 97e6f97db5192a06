// Standard error, and a status line that is redrawn in place on a terminal. Other lines are also written
// through this class, which clears the status line first.
//
// Standard error may be a stopped terminal or a pipe that is never read. Error messages wait for it, but
// progress must not: the thread that draws it also handles signals.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

namespace gpuaes {

inline constexpr std::size_t default_columns = 80;

// The width of the terminal at `fd`, or default_columns if the terminal does not report it. nullopt if `fd`
// is not a terminal.
std::optional<std::size_t> terminal_columns(int fd);

// All functions may be called from any thread. Texts have no newline.
class StatusLine {
 public:
  // The columns available for the status line, one less than the terminal has: after the last column, the
  // cursor would wrap. nullopt if standard error is not a terminal.
  std::optional<std::size_t> columns() const;

  // Redraws the status line. Only for terminals. Does nothing while another process group is in the
  // foreground, whose output it would overwrite.
  void draw(const std::string& text);

  // Draws the status line for the last time, and ends it with a newline.
  void finish(const std::string& text);

  // Writes a whole line, or nothing if standard error does not accept it within a tenth of a second.
  void try_print(const std::string& text);

  // Writes a whole line, and waits for standard error until the function given to set_cancelled_check()
  // returns true.
  void print(const std::string& text);

  // From now on print() gives up once `is_cancelled` returns true. If it is empty, print() never gives up.
  void set_cancelled_check(std::function<bool()> is_cancelled);

 private:
  std::string cleared();
  std::string drawn(const std::string& text) const;

  std::mutex mutex_;  // guards the members below
  std::function<bool()> is_cancelled_;
  std::size_t shown_ = 0;  // columns of the status line as drawn; 0 without one
};

}  // namespace gpuaes
