// A file that has no name, or a temporary one, until it is whole.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>

#include "io/fd.hpp"

namespace gpuaes {

// Until publish() only its owner can open it. Where the file system has O_TMPFILE it has no name until then,
// so not even SIGKILL leaves it there; elsewhere it is called .NAME.gpuaes-XXXXXX, with mode 0600, and
// the destructor removes it.
class TempFile {
 public:
  // In the directory of `target`, which messages call `name`. `hint` is for errors that writing in place
  // would avoid. IoError.
  TempFile(const std::filesystem::path& target, std::string name, const char* hint);
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile();

  // The file, open for writing; once. Nothing else has it open so, and close(2) reports all that went wrong.
  Fd take_fd() { return std::move(fd_); }

  // IoError where the target exists and publish() could not replace it: it is not a regular file, it is a
  // mount point, or a sticky directory or a file attribute protects it. Changes nothing.
  void check_target() const;

  // The mode that a new file gets in this directory, by umask or by the directory's default ACL; 0600 where
  // that cannot be found. Creates an empty file to see: no other way is right on every file system.
  mode_t mode_of_new_file() const;

  // Gives it the target's name, and replaces a file of that name. IoError.
  void publish();

 private:
  Fd create();
  Fd create_nameless(mode_t mode) const;
  Fd create_named(mode_t mode, std::string& temp_name) const;
  bool link_to(const char* new_name) const;

  std::string name_;
  const char* hint_;
  Fd directory_;
  std::string base_;       // the target's name in the directory
  std::string temp_name_;  // in the directory; empty while the file has none
  Fd handle_{-1};          // O_PATH: the file while it has no name
  Fd fd_;
};

// Makes a new name in the directory of `path` survive a crash of the system. Some file systems cannot do
// that, which is not an error.
void sync_directory_of(const std::filesystem::path& path);

}  // namespace gpuaes
