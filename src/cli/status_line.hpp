// Standard error, and the one line that may stand there without its line feed, to be drawn again and again on
// a terminal. Whoever writes whole lines meets the line here, and clears it away first, so that they never
// mix.
//
// Standard error may be a terminal that was stopped, or a pipe that nobody reads. An error message waits for
// it. What only tells how far the run is must not: the thread that draws it is also the one that takes
// signals.
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

// All may be called from any thread. Texts have no line feed.
class StatusLine {
 public:
  // How many columns there are for a line that stands: one less than the terminal has, where a cursor behind
  // the last one would begin the next line. Nothing where standard error is no terminal.
  std::optional<std::size_t> columns() const;

  // Draws the line anew. Only for terminals, and not while another process group has the terminal: the line
  // would be in the midst of what that one shows.
  void draw(const std::string& text);

  // Draws the line for the last time, and ends it with a line feed.
  void finish(const std::string& text);

  // A whole line, written as soon as standard error takes it: at once, or after a tenth of a second not at
  // all.
  void tell(const std::string& text);

  // A whole line, however long standard error lets it wait, or until the check of cancellation says so.
  void print(const std::string& text);

  // From now on print() gives up once `is_cancelled` says so; empty: it never does.
  void set_cancelled_check(std::function<bool()> is_cancelled);

 private:
  std::string cleared();
  std::string drawn(const std::string& text) const;

  std::mutex mutex_;  // for what follows
  std::function<bool()> is_cancelled_;
  std::size_t shown_ = 0;  // columns that the line took when it was drawn; 0 where none stands
};

}  // namespace gpuaes
