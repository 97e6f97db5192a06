// Messages on standard error, in one form: "gpuaes-stream: error: ...", in lowercase and without a period.
// They may be printed from any thread.
#pragma once

#include <functional>
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
  void input_warning(const std::string& text) const;  // about the input, which InputName names
  void note(const std::string& text) const;           // information that is not a warning
  void detail(const std::string& text) const;
  void fine_detail(const std::string& text) const;

  // Prints `text` at any level, since the user requested it. Does not wait for standard error.
  void report(const std::string& text) const;

  // While one exists, warnings about the input begin with its name, unless that is empty. If it is one of
  // several inputs, so do details.
  class InputName {
   public:
    InputName(const Messages& messages, const std::string& name, bool several) : messages_(messages) {
      messages_.input_ = name;
      if (several) messages_.one_of_several_ = name;
    }
    ~InputName() {
      messages_.input_.clear();
      messages_.one_of_several_.clear();
    }
    InputName(const InputName&) = delete;
    InputName& operator=(const InputName&) = delete;

   private:
    const Messages& messages_;
  };

  // The name of the input if it is one of several, for progress; otherwise "".
  const std::string& one_of_several() const { return one_of_several_; }

  // While one exists, messages stop waiting for standard error once `is_cancelled` returns true, which means
  // that the program has been told to stop.
  class CancelledCheck {
   public:
    CancelledCheck(const Messages& messages, std::function<bool()> is_cancelled) : line_(messages.line_) {
      line_.set_cancelled_check(std::move(is_cancelled));
    }
    ~CancelledCheck() { line_.set_cancelled_check({}); }
    CancelledCheck(const CancelledCheck&) = delete;
    CancelledCheck& operator=(const CancelledCheck&) = delete;

   private:
    StatusLine& line_;
  };

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
