// The exception types; each failure exit status has at least one. The hint, if not empty, says what the user
// can do next.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace gpuaes {

enum class Exit : int { ok = 0, io = 1, usage = 2, key = 3, auth = 4 };

// A handler may add context to it and rethrow it.
class Error : public std::exception {
 public:
  Error(Exit exit, std::string message, std::string hint = {})
      : exit_(exit), message_(std::move(message)), hint_(std::move(hint)) {}
  Exit exit() const noexcept { return exit_; }
  const char* what() const noexcept override { return message_.c_str(); }
  const std::string& hint() const noexcept { return hint_; }

  // Puts what the error is about (a file, an option) before the message, unless it is empty.
  void within(const std::string& subject) {
    if (!subject.empty()) message_ = subject + ": " + message_;
  }
  void append(const std::string& text) { message_ += text; }
  void set_hint(std::string hint) { hint_ = std::move(hint); }

 private:
  Exit exit_;
  std::string message_;
  std::string hint_;
};

// Invalid options, or a key or IV with the wrong length or an invalid digit.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message, std::string hint = {})
      : Error(Exit::usage, message, std::move(hint)) {}
};

// This input cannot be processed, for one of the reasons below.
class InputError : public Error {
  using Error::Error;
};

// The options cannot be used with this input, but may be with another one.
class UnsuitableInput : public InputError {
 public:
  explicit UnsuitableInput(const std::string& message, std::string hint = {})
      : InputError(Exit::usage, message, std::move(hint)) {}
};

// The secret is well formed but does not open the input.
class KeyError : public InputError {
 public:
  explicit KeyError(const std::string& message, std::string hint = {})
      : InputError(Exit::key, message, std::move(hint)) {}
};

// The input is corrupt, truncated or not in a known format.
class AuthError : public InputError {
 public:
  explicit AuthError(const std::string& message, std::string hint = {})
      : InputError(Exit::auth, message, std::move(hint)) {}
};

// The input does not begin like any known format.
class UnknownFormat : public AuthError {
 public:
  using AuthError::AuthError;
};

// The input uses a later version of a format, or a feature of one, that this program cannot read.
class VersionError : public InputError {
 public:
  explicit VersionError(const std::string& message, std::string hint = "try a later version of gpuaes-stream")
      : InputError(Exit::io, message, std::move(hint)) {}
};

// A failure of the input, the output or the system.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message, std::string hint = {})
      : Error(Exit::io, message, std::move(hint)) {}
};

// The reader of the output is gone. The program then ends with SIGPIPE, unless that was ignored when it
// started.
class PipeClosed : public IoError {
 public:
  using IoError::IoError;
};

// A file that must be new exists.
class FileExists : public IoError {
 public:
  using IoError::IoError;
};

// Returns `use()`, which opens a file for a command line option. Puts the option before the message of an
// error. Only the output may end the program with SIGPIPE.
template <class Use>
auto with_option(const std::string& option, const Use& use) {
  try {
    return use();
  } catch (UsageError& error) {
    error.within(option);
    throw;
  } catch (PipeClosed& error) {
    error.within(option);
    throw IoError(error.what(), error.hint());
  } catch (IoError& error) {
    error.within(option);
    throw;
  }
}

// A lane cannot be opened or cannot continue. The data is intact, so another lane can do the work.
class LaneError : public Error {
 public:
  explicit LaneError(const std::string& message, std::string hint = {})
      : Error(Exit::io, message, std::move(hint)) {}
};

// Thrown to stop the program: `signal` is the number of the signal received, or 0 if another part of the
// program failed, whose error is reported instead.
struct Cancelled {
  int signal = 0;
};

// Thrown to end the program with this status, after the errors have been printed.
struct Failed {
  Exit exit;
};

}  // namespace gpuaes
