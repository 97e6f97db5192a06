// The exception types; each failure exit status has at least one. The hint, if not empty, says what the user
// can do next.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace gpuaes {

enum class Exit : int { ok = 0, io = 1, usage = 2, key = 3, auth = 4 };

class Error : public std::runtime_error {
 public:
  Error(Exit exit, const std::string& message, std::string hint = {})
      : std::runtime_error(message), exit_(exit), hint_(std::move(hint)) {}
  Exit exit() const noexcept { return exit_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  Exit exit_;
  std::string hint_;
};

// Invalid options, or a key or IV with the wrong length or an invalid digit.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message, std::string hint = {})
      : Error(Exit::usage, message, std::move(hint)) {}
};

// The options cannot be used with this input, but may be with another one.
class UnsuitableInput : public Error {
 public:
  explicit UnsuitableInput(const std::string& message, std::string hint = {})
      : Error(Exit::usage, message, std::move(hint)) {}
};

// The secret is well formed but does not open the input.
class KeyError : public Error {
 public:
  explicit KeyError(const std::string& message, std::string hint = {})
      : Error(Exit::key, message, std::move(hint)) {}
};

// The input is corrupt, truncated or not in a known format.
class AuthError : public Error {
 public:
  explicit AuthError(const std::string& message, std::string hint = {})
      : Error(Exit::auth, message, std::move(hint)) {}
};

// The input does not begin like any known format.
class UnknownFormat : public AuthError {
 public:
  using AuthError::AuthError;
};

// A failure of the input, the output or the system.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message, std::string hint = {})
      : Error(Exit::io, message, std::move(hint)) {}
};

// A file that must be new exists.
class FileExists : public IoError {
 public:
  using IoError::IoError;
};

// The input uses a later version of a format, or a feature of one, that this program cannot read.
class VersionError : public IoError {
 public:
  explicit VersionError(const std::string& message, std::string hint = "try a later version of gpuaes-stream")
      : IoError(message, std::move(hint)) {}
};

// Returns `use()`, which opens a file for a command line option. Puts the option, unless it is empty, before
// the message of an error.
template <class Use>
auto with_option(const std::string& option, const Use& use) {
  const auto message = [&option](const Error& error) {
    return option.empty() ? error.what() : option + ": " + error.what();
  };
  try {
    return use();
  } catch (const UsageError& error) {
    throw UsageError(message(error), error.hint());
  } catch (const FileExists& error) {
    throw FileExists(message(error), error.hint());
  } catch (const IoError& error) {
    throw IoError(message(error), error.hint());
  }
}

// The reader of the output is gone. The program then ends with SIGPIPE, unless that was ignored when it
// started.
class PipeClosed : public IoError {
 public:
  using IoError::IoError;
};

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
