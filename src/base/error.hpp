// The exception types; each failure exit status has at least one. The hint, if there is one, says what the
// user can do next.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace gpuaes {

enum class Exit : int { ok = 0, io = 1, usage = 2, key = 3, auth = 4 };

// What a user can do who has the options of the programs, which the engine does not know:
// terminal/messages.cpp puts it into words. `about` is what Hint::text has.
enum class Advice {
  text,  // the text is the hint itself
  check_download,
  check_key_and_context,
  decrypt_with_openssl,
  enter_passphrase,
  list_lanes,
  list_slots,  // about: "slots" or "stanzas"
  match_label,
  name_any_secret,
  name_identity_file,
  name_key_file,
  name_passphrase_source,
  omit_cipher,
  omit_format,
  omit_label,
  print_recipient,
  raise_file_limit,
  raise_memory_limit,
  raise_thread_limit,
  recover_undamaged,
  redirect_output,
  repeat_key_option,
  restore_identity,
  seal_for_key_file,
  try_several_keys,  // about: as for list_slots
  use_cpu_lanes,
  use_smaller_chunks,
  last = use_smaller_chunks,
};

struct Hint {
  Hint() = default;
  Hint(std::string words) : text(std::move(words)) {}
  Hint(const char* words) : text(words) {}
  Hint(Advice what, std::string about = {}) : advice(what), text(std::move(about)) {}

  bool empty() const { return advice == Advice::text && text.empty(); }

  Advice advice = Advice::text;
  std::string text;
};

// A handler may add context to it and rethrow it.
class Error : public std::exception {
 public:
  Error(Exit exit, std::string message, Hint hint = {})
      : exit_(exit), message_(std::move(message)), hint_(std::move(hint)) {}
  Exit exit() const noexcept { return exit_; }
  const char* what() const noexcept override { return message_.c_str(); }
  const Hint& hint() const noexcept { return hint_; }

  // Whether the system lacked memory, descriptors or threads, which may be free later.
  bool lacks_resource() const noexcept {
    const Advice advice = hint_.advice;
    return advice == Advice::raise_file_limit || advice == Advice::raise_memory_limit ||
           advice == Advice::raise_thread_limit || advice == Advice::use_smaller_chunks;
  }

  // Puts what the error is about (a file, an option) before the message, unless it is empty.
  void within(const std::string& subject) {
    if (!subject.empty()) message_ = subject + ": " + message_;
  }
  void append(const std::string& text) { message_ += text; }
  void set_hint(Hint hint) { hint_ = std::move(hint); }

 private:
  Exit exit_;
  std::string message_;
  Hint hint_;
};

// Invalid options, or a key or IV with the wrong length or an invalid digit.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message, Hint hint = {})
      : Error(Exit::usage, message, std::move(hint)) {}
};

// This input cannot be processed, for one of the reasons below.
class InputError : public Error {
  using Error::Error;
};

// The options cannot be used with this input, but may be with another one.
class UnsuitableInput : public InputError {
 public:
  explicit UnsuitableInput(const std::string& message, Hint hint = {})
      : InputError(Exit::usage, message, std::move(hint)) {}
};

// The secret is well formed but does not open the input.
class KeyError : public InputError {
 public:
  explicit KeyError(const std::string& message, Hint hint = {})
      : InputError(Exit::key, message, std::move(hint)) {}
};

// The input is corrupt, truncated or not in a known format.
class AuthError : public InputError {
 public:
  explicit AuthError(const std::string& message, Hint hint = {})
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
  explicit VersionError(const std::string& message, Hint hint = "try a later version of gpuaes-stream")
      : InputError(Exit::io, message, std::move(hint)) {}
};

// A failure of the input, the output or the system.
class IoError : public Error {
 public:
  explicit IoError(const std::string& message, Hint hint = {}) : Error(Exit::io, message, std::move(hint)) {}
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

// A lane cannot be opened or cannot continue. The data is intact, so another lane can do the work.
class LaneError : public Error {
 public:
  explicit LaneError(const std::string& message, Hint hint = {})
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
