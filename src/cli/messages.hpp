// What a program says, all of it on standard error, in one voice: "gpuaes-stream: error: ...", lower case, no
// full stop. From any thread.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "cli/status_line.hpp"

namespace gpuaes {

class Messages {
 public:
  enum class Level { quiet, normal, verbose };  // errors only; warnings too; what is being done too

  explicit Messages(std::string program) : program_(std::move(program)) {}

  void set_level(Level level) { level_ = level; }

  void error(const std::string& text) const;
  void error(const Error& error) const;  // with its hint
  void warning(const std::string& text) const;
  void note(const std::string& text) const;  // what the user has to know, and nothing to be warned of
  void detail(const std::string& text) const;

  // Whatever the level: what was asked for expressly. It does not wait for standard error.
  void report(const std::string& text) const;

  // While it lives a message waits no longer for standard error once `when` says so: when the program was
  // told to stop.
  class CancelledCheck {
   public:
    CancelledCheck(const Messages& messages, std::function<bool()> when) : line_(messages.line_) {
      line_.set_cancelled_check(std::move(when));
    }
    ~CancelledCheck() { line_.set_cancelled_check({}); }
    CancelledCheck(const CancelledCheck&) = delete;
    CancelledCheck& operator=(const CancelledCheck&) = delete;

   private:
    StatusLine& line_;
  };

  // The line that is drawn again and again, where standard error is a terminal.
  StatusLine& line() const { return line_; }

 private:
  void print(const char* kind, const std::string& text) const;

  std::string program_;
  mutable StatusLine line_;
  Level level_ = Level::normal;
};

}  // namespace gpuaes
