// Standard error: messages, and a status line that is redrawn in place on a terminal.
//
// Standard error may be a stopped terminal or a pipe that is never read. Error messages wait for it, but
// progress must not: the thread that draws it also handles signals.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace gpuaes {

inline constexpr std::size_t default_columns = 80;

// The width of the terminal at `fd`, or default_columns if the terminal does not report it. nullopt if `fd`
// is not a terminal.
std::optional<std::size_t> terminal_columns(int fd);

// Writes whole lines, clearing the status line first. All functions may be called from any thread. Texts have
// no newline.
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

// Messages in one form: "gpuaes-stream: error: ...", in lowercase and without a period. They pass through
// printable(), because they may contain file names and texts of other programs. They may be printed from any
// thread. Copies share the status line.
class Messages {
 public:
  // Each level adds to the previous one: errors only; warnings; notes; details; details of each lane.
  enum class Level { quiet, warnings, normal, verbose, very_verbose };

  explicit Messages(std::string program) : program_(std::move(program)) {}

  void set_level(Level level) { level_ = level; }

  void error(const std::string& text) const;
  void error(const Error& error) const;  // with its hint, unless that has been printed before
  void warning(const std::string& text) const;
  void input_warning(const std::string& text) const;  // about the input, see name_input()
  void note(const std::string& text) const;           // information that is not a warning
  void detail(const std::string& text) const;
  void fine_detail(const std::string& text) const;

  // A function that calls warning(); the messages must outlive it.
  std::function<void(const std::string&)> warner() const {
    return [this](const std::string& text) { warning(text); };
  }

  // Prints `text` at any level, since the user requested it. Does not wait for standard error.
  void report(const std::string& text) const;

  // Messages for a run with this input: warnings about it begin with its name, unless that is empty. If it is
  // one of several inputs, so do details.
  Messages for_input(const std::string& name, bool several) const {
    Messages messages = *this;
    messages.input_ = name;
    messages.one_of_several_ = several ? name : "";
    return messages;
  }

  // The name of the input if it is one of several, for progress; otherwise "".
  const std::string& one_of_several() const { return one_of_several_; }

  // The status line, if standard error is a terminal.
  StatusLine& line() const { return *line_; }

 private:
  std::string line_of(const char* kind, const std::string& text) const;
  void print(const char* kind, const std::string& text) const;

  std::string program_;
  std::shared_ptr<StatusLine> line_ = std::make_shared<StatusLine>();
  struct PrintedHints {
    std::mutex mutex;
    std::set<std::string> hints;  // guarded by mutex
  };
  std::shared_ptr<PrintedHints> printed_ = std::make_shared<PrintedHints>();
  std::string input_, one_of_several_;
  Level level_ = Level::normal;
};

}  // namespace gpuaes
