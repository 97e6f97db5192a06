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
  void note(const std::string& text) const;  // information that is not a warning
  void detail(const std::string& text) const;
  void fine_detail(const std::string& text) const;

  // Prints `text` at any level, since the user requested it. Does not wait for standard error.
  void report(const std::string& text) const;

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
  Level level_ = Level::normal;
};

}  // namespace gpuaes
