// A file without a name, or with a temporary one, until it is complete.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "io/fd.hpp"
#include "io/nameless_file.hpp"
#include "io/output_target.hpp"
#include "io/temporary_name.hpp"

namespace gpuaes {

// If the file system has O_TMPFILE and links, the file has no name until publish(), so it disappears even
// after SIGKILL. Otherwise it is called .NAME.gpuaes-XXXXXX, or as its creator says, only its owner can open
// it until it is complete, and the destructor removes it.
class TempFile {
 public:
  // What publish() does if the target exists. With `refuse`, the constructor also fails.
  enum class IfExists { replace, refuse };

  struct Rules {
    IfExists if_exists = IfExists::replace;
    bool nameless = true;     // if possible
    std::string prefix = {};  // what its name begins with, if not with .NAME.gpuaes-
    // Test, before any work is done, the calls that will name the file. Worthwhile for large files.
    bool try_naming = false;
    // The mode of the file, less what umask or a default ACL takes from it, instead of that of a new file.
    std::optional<mode_t> mode{};
    bool replaces_read_only = false;  // a file of this user that > could not write
    const char* hint = "";            // for errors that writing in place would avoid
  };

  // Creates the file in the directory of the target. IoError if the old file cannot be written, but has to,
  // or cannot be replaced: it is not a regular file, it is a mount point, or a sticky or append-only
  // directory protects it.
  TempFile(OutputTarget target, Rules rules);
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  // The only descriptor that is open for writing, so close(2) reports every error. Call once.
  Fd take_fd() { return std::move(fd_); }

  // The old file, open for writing, or for reading if it may be read-only. -1 if there was none, if the name
  // now belongs to another file, or to none, or if it cannot be read. IoError if it cannot be written, but
  // has to.
  Fd open_old() const;

  // The mode of a new file in this directory, from umask or the directory's default ACL, and from the rules.
  // If those name no mode and there was an old file, other users get only permissions that it gave to
  // everyone.
  mode_t new_mode() const noexcept { return new_mode_; }

  // Gives the file the target's name. FileExists if it must be new and exists; IoError.
  void publish();

  // Removes the name that publish() gave.
  void remove_published() const noexcept;

  // Makes the name survive a system crash, if the file system and the permissions of the directory allow it.
  // IoError.
  void sync_directory() const;

  // Opens a file without a name to read it. -1 if it has one.
  Fd reopen() const;

  // Renames, links or copies a complete file that could not be published to .NAME.gpuaes-kept, which replaces
  // an earlier one. If all of these fail, the file stays under its temporary name, but only one at a time
  // does. Only its owner can open it. Returns the path, or nothing if the file is not there. Cancelled.
  std::optional<std::string> keep(Cancel& cancel);

 private:
  void check_replaceable() const;
  bool may_be_read_only(const Fd& old) const;
  Fd create();
  Fd create_nameless();
  void probe_named();
  bool can_link() const;
  bool link_temporarily(const NamelessFile& file, const std::string& prefix, TemporaryName& name) const;
  bool must_be_new() const { return rules_.if_exists == IfExists::refuse; }
  bool exists() const;
  bool give_name();
  [[noreturn]] void throw_unnamed(int error) const;
  bool is_at(int directory, const std::filesystem::path& path) const;
  bool move_to(const std::string& kept);
  bool copy_to(const std::string& kept, Cancel& cancel);
  bool is_only_one() const;
  std::optional<std::string> find(const std::string& name) const;

  const OutputTarget target_;  // being open, the old file keeps its inode number from being reused
  Rules rules_;
  Fd directory_;
  std::string base_;  // the target's name in the directory
  mode_t new_mode_ = 0;
  struct stat made_ {};    // identifies the file
  NamelessFile nameless_;  // if the file has no name
  TemporaryName name_;     // if it has one
  Fd fd_;
};

}  // namespace gpuaes
