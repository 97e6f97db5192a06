// Every way the program can fail, one type for each exit status of the command line contract. Thrown inside,
// caught once in main. `hint`, where there is one, says what the user can do next.
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

// The command line asks for what cannot be: options, and keys or IVs of unusable length or digits.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message, std::string hint = {})
      : Error(Exit::usage, message, std::move(hint)) {}
};

// The secret is well formed but does not open the input.
class KeyError : public Error {
 public:
  explicit KeyError(const std::string& message, std::string hint = {})
      : Error(Exit::key, message, std::move(hint)) {}
};

// The input is corrupt, truncated, or of no known format.
class AuthError : public Error {
 public:
  explicit AuthError(const std::string& message, std::string hint = {})
      : Error(Exit::auth, message, std::move(hint)) {}
};

// Input, output or the system failed.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message, std::string hint = {})
      : Error(Exit::io, message, std::move(hint)) {}
};

// The input is of a later version, or has something of one: nothing that this program may read.
class VersionError : public IoError {
 public:
  explicit VersionError(const std::string& message, std::string hint = "try a later version of gpuaes-stream")
      : IoError(message, std::move(hint)) {}
};

// Nobody reads the output any more. Filters end by SIGPIPE then, unless that is ignored.
class PipeClosed : public IoError {
 public:
  using IoError::IoError;
};

// A lane cannot open or cannot go on. The data are untouched: another lane can do the work.
class LaneError : public Error {
 public:
  explicit LaneError(const std::string& message, std::string hint = {})
      : Error(Exit::io, message, std::move(hint)) {}
};

// Not a failure but an order to stop: by a signal (its number), or 0 when another part of the program failed
// and this one has to make way for that error.
struct Cancelled {
  int signal = 0;
};

}  // namespace gpuaes
