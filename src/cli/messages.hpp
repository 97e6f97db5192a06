// Messages on standard error, in one form: "gpuaes-stream: error: ...", in lowercase and without a period.
// They may be printed from any thread.
#pragma once

#include <string>
#include <utility>

#include "base/error.hpp"
#include "cli/status_line.hpp"

namespace gpuaes {

// The text with control characters replaced: a file name may contain any byte, but a newline would split a
// message, and an escape sequence could control the terminal.
std::string printable(std::string text);

class Messages {
 public:
  // Each level adds to the previous one: errors only; warnings and notes; details; details of each lane.
  enum class Level { quiet, normal, verbose, very_verbose };

  explicit Messages(std::string program) : program_(std::move(program)) {}

  void set_level(Level level) { level_ = level; }

  void error(const std::string& text) const;
  void error(const Error& error) const;  // with its hint
  void warning(const std::string& text) const;
  void input_warning(const std::string& text) const;  // about the input, see name_input()
  void note(const std::string& text) const;           // information that is not a warning
  void detail(const std::string& text) const;
  void fine_detail(const std::string& text) const;

  // Prints `text` at any level, since the user requested it. Does not wait for standard error.
  void report(const std::string& text) const;

  // From now on, warnings about the input begin with its name, unless that is empty. If it is one of several
  // inputs, so do details.
  void name_input(const std::string& name, bool several) const {
    input_ = name;
    one_of_several_ = several ? name : "";
  }

  // The name of the input if it is one of several, for progress; otherwise "".
  const std::string& one_of_several() const { return one_of_several_; }

  // The status line, if standard error is a terminal.
  StatusLine& line() const { return line_; }

 private:
  void print(const char* kind, const std::string& text) const;

  std::string program_;
  mutable StatusLine line_;
  mutable std::string input_, one_of_several_;
  Level level_ = Level::normal;
};

}  // namespace gpuaes
