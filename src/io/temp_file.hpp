// A file without a name, or with a temporary one, until it is complete.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "io/fd.hpp"

namespace gpuaes {

// Until publish(), only its owner can open it. If the file system has O_TMPFILE, the file has no name until
// then, so it disappears even after SIGKILL. Otherwise it is called .NAME.gpuaes-XXXXXX, and the destructor
// removes it.
class TempFile {
 public:
  // What publish() does if the target exists. With `refuse`, the constructor also fails.
  enum class IfExists { replace, refuse };

  // Creates the file in the directory of `target`, which messages call `name`. `hint` is for errors that
  // writing in place would avoid. IoError.
  TempFile(const std::filesystem::path& target, std::string name, const char* hint,
           IfExists if_exists = IfExists::replace);
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile();

  // The only descriptor that is open for writing, so close(2) reports every error. Call once.
  Fd take_fd() { return std::move(fd_); }

  // Changes if the target is replaced or its contents or access change.
  struct State {
    std::uint64_t inode;
    std::int64_t seconds, nanoseconds;  // its ctime
    bool operator==(const State&) const = default;
  };

  // The target as it is now; none if it does not exist. IoError if publish() could not replace it or the
  // shell's > could not write it: it is not a regular file, it is a mount point, or permissions, a sticky
  // directory or a file attribute protect it. Changes nothing, but would remove an empty directory that takes
  // the target's name at that moment.
  std::optional<State> inspect_target() const;

  // A path of the target. With /proc, it leads to the same directory even if that is renamed.
  std::string target() const;

  // The mode of a new file in this directory, from umask or the directory's default ACL; 0600 if unknown.
  // Creates an empty file to get it, which is the only way that works on every file system.
  mode_t mode_of_new_file() const;

  // Gives the file the target's name. FileExists if it must be new and exists; IoError.
  void publish();

 private:
  Fd create();
  Fd create_nameless(mode_t mode) const;
  Fd create_named(mode_t mode, std::string& temp_name) const;
  bool link_to(const char* new_name) const;
  bool rename_to_target() const;
  bool replace_target();
  bool become_new_target() const;
  bool is_target() const;
  bool rename_to_reserved_target() const;
  void check_writable() const;

  std::string target_;
  std::string name_;
  const char* hint_;
  IfExists if_exists_;
  Fd directory_;
  std::string base_;       // the target's name in the directory
  std::string temp_name_;  // in the directory; empty while the file has none
  Fd handle_{-1};          // O_PATH: the file while it has no name
  Fd fd_;
};

// Makes a new name in the directory of `path` survive a system crash, if the file system and the permissions
// of the directory allow it. IoError.
void sync_directory_of(const std::filesystem::path& path);

}  // namespace gpuaes
