// The directory in which the processes meet that write a file together (shared_output.hpp).
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>

#include "io/cancel.hpp"
#include "io/directory.hpp"
#include "io/fd.hpp"
#include "io/shared_output.hpp"

namespace gpuaes {

class SharedFolder {
 public:
  static constexpr char data_name[] = "data";

  // The mode of unfinished data has this bit, which no one gives to a file without the other ones. A
  // descriptor of the data shows whether it is still set, even if the file has been moved, and no host caches
  // it.
  static constexpr mode_t unfinished_bit = S_IXOTH;
  static bool is_marked(mode_t mode) { return (mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == unfinished_bit; }

  // For the file of that name. IoError if its directory cannot be opened, or cannot be used.
  SharedFolder(const std::string& name, SharedOutput::Place place);

  const Directory& parent() const { return parent_; }
  const std::string& file() const { return file_; }  // the name of the file in the parent
  std::string name() const { return parent_.name_of(folder_); }
  std::string data_in_parent() const { return folder_ + "/" + data_name; }

  // Opens the directory, and makes it with its data if it does not exist. Returns false if it has disappeared
  // in the meantime. IoError.
  bool open();

  // Before another try.
  void close();

  // Whether the open directory has been renamed or removed.
  bool has_disappeared() const;

  // The following need the open directory.
  const Directory& get() const { return *directory_; }
  Fd open_lock(std::string& name) const;  // of the share, with its name for messages
  bool is_done() const;                   // whether the share is complete
  void mark_done() const;
  bool all_done(const Cancel& cancel) const;  // whether the other shares are complete

  // Makes the mark survive a system crash, unless another process has completed the file.
  void sync() const;
  void remove() const { remove(*directory_); }

  // Removes what a process left that ended before it had removed the directory.
  void remove_finished() const;

 private:
  void make();
  void create_data(const std::string& file) const;
  void remove(const Directory& directory) const;

  const std::string name_;  // of the file, for messages
  const SharedOutput::Place place_;
  const std::string file_;
  const Directory parent_;
  const std::string folder_;  // the name of the directory in the parent
  std::optional<Directory> directory_;
  bool is_own_ = false;  // made by this process
};

}  // namespace gpuaes
