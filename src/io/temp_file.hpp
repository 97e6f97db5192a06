// A file without a name, or with a temporary one, until it is complete.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "io/fd.hpp"

namespace gpuaes {

// If the file system has O_TMPFILE, the file has no name until publish(), so it disappears even after
// SIGKILL. Otherwise it is called .NAME.gpuaes-XXXXXX, or as its creator says, only its owner can open it,
// and the destructor removes it.
class TempFile {
 public:
  // What publish() does if the target exists. With `refuse`, the constructor also fails.
  enum class IfExists { replace, refuse };

  // Creates the file in the directory of `target`, which messages call `name`. `old` is the file that had
  // this name at the beginning of the run, opened with O_PATH, or null if there was none. `hint` is for
  // errors that writing in place would avoid. With `temp_prefix`, the file always has a name, which begins
  // like that. IoError if the old file cannot be written, or not be replaced: it is not a regular file, it is
  // a mount point, or a sticky or append-only directory protects it.
  TempFile(const std::filesystem::path& target, std::string name, std::shared_ptr<const Fd> old,
           const char* hint, IfExists if_exists = IfExists::replace, std::string temp_prefix = {});
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile();

  // The only descriptor that is open for writing, so close(2) reports every error. Call once.
  Fd take_fd() { return std::move(fd_); }

  // The old file, open for writing. -1 if there was none, or if the name now belongs to another file, or to
  // none. IoError if it cannot be written.
  Fd open_old() const;

  // The mode of a new file in this directory, from umask or the directory's default ACL. If there was an old
  // file, other users get only permissions that it gave to everyone.
  mode_t new_mode() const noexcept { return new_mode_; }

  // Gives the file the target's name. FileExists if it must be new and exists; IoError.
  void publish();

 private:
  void check_replaceable() const;
  Fd create();
  Fd create_named(mode_t mode, std::string& temp_name) const;
  bool exists() const;
  bool is_append_only() const;
  bool link_to(const char* new_name) const;
  bool replace_target();
  bool become_new_target() const;

  std::string name_;
  const char* hint_;
  IfExists if_exists_;
  Fd directory_;
  std::string base_;               // the target's name in the directory
  std::string temp_prefix_;        // empty if O_TMPFILE may be used
  std::string temp_name_;          // in the directory; empty while the file has none
  std::shared_ptr<const Fd> old_;  // being open, it keeps its inode number from being reused
  mode_t new_mode_ = 0;
  Fd handle_{-1};  // O_PATH: the file while it has no name
  Fd fd_;
};

// The text with letters after it that no other process is likely to choose.
std::string with_random_letters(std::string text);

// Gives a file another name, which must be new: false with EEXIST otherwise, or with the errno of another
// error.
bool give_new_name(int directory, const std::string& name, int new_directory, const std::string& new_name);

// Makes a new name in the directory of `path` survive a system crash, if the file system and the permissions
// of the directory allow it. IoError.
void sync_directory_of(const std::filesystem::path& path);

}  // namespace gpuaes
