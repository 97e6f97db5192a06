// A directory whose files are found relative to one descriptor: it may be renamed, and other users may put
// another directory at its name.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <vector>

#include "io/cancel.hpp"
#include "io/fd.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {

class Directory {
 public:
  // IoError if it cannot be, or was not, opened.
  explicit Directory(const std::string& name);
  Directory(Fd fd, std::string name);

  // Makes a directory that only its owner can open, in the current one or in `parent`. IoError, also if the
  // name exists.
  static Directory make(const std::string& file, const Directory* parent = nullptr);

  // Opens a directory in this one, which must be private. Nothing if it does not exist.
  std::optional<Directory> open_private(const std::string& file) const;

  // IoError unless the directory belongs to this user, and no one else may write to it.
  void require_private() const;

  const std::string& name() const noexcept { return name_; }
  int descriptor() const noexcept { return fd_.get(); }
  std::string name_of(const std::string& file) const;  // for messages

  // The status of a file itself, even if it is a symbolic link. None if it does not exist. IoError.
  std::optional<struct stat> status_of(const std::string& file) const;
  bool has(const std::string& file) const { return status_of(file).has_value(); }

  // Opens a file to read it. None if it does not exist. IoError, also if it is not a regular file.
  std::optional<FdSource> open(const std::string& file, Cancel& cancel) const;

  // The names in the directory. IoError.
  std::vector<std::string> list() const;

  // Removes a file, unless it does not exist. IoError.
  void remove(const std::string& file) const;

  // Removes a directory in this one, if it is empty.
  void remove_directory(const std::string& file) const noexcept;

  // Makes new and removed names survive a system crash. IoError.
  void sync() const;

 private:
  std::string name_;  // without a slash at its end
  Fd fd_;
};

}  // namespace gpuaes
