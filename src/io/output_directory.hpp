// A directory for many output files, in folders below it. Everything is found relative to one descriptor, and
// no symbolic link below the directory is followed: other users may be able to write there.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "io/fd.hpp"
#include "io/output_file.hpp"

namespace gpuaes {

class OutputDirectory {
 public:
  // Opens the directory, or makes it if it does not exist. IoError.
  explicit OutputDirectory(std::string name);

  // An output file. The folder is that of the file, and must outlive the target and its sink.
  struct Place {
    Fd folder;
    OutputTarget target;
  };

  // The output at `path`, below the directory, whose components are names other than "." and "..". Makes its
  // folders. IoError, also if what is there is not a regular file. From any thread.
  Place find(const std::string& path);

  // Makes the names of files and folders survive a system crash, if the file system allows it. IoError.
  void sync() const;

 private:
  Fd open_folder(const std::string& path) const;
  std::string name_of(const std::string& path) const;  // for messages

  std::string name_;
  Fd fd_;
  std::mutex mutex_;
  std::set<std::string> folders_;  // of outputs; guarded by mutex_ until sync()
};

}  // namespace gpuaes
