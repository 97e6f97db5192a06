// A directory for many output files, in folders below it. Everything is found relative to one descriptor, and
// no symbolic link below the directory is followed: other users may be able to write there.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "io/fd.hpp"
#include "io/output_target.hpp"

namespace gpuaes {

class OutputDirectory {
 public:
  // Opens the directory if it exists.
  explicit OutputDirectory(std::string name);

  // Makes the directory unless it exists. Call this before find(). IoError if it cannot be made or opened.
  void make();

  // Whether the folder, found in the usual way, is this directory or below it, by whatever path.
  bool contains(const std::string& folder) const;

  int descriptor() const noexcept { return fd_.get(); }  // -1 if it does not exist yet

  // An output file. The folder is that of the file, and must outlive the target and its sink.
  struct Place {
    Fd folder;
    OutputTarget target;
  };

  // The output at `path`, below the directory, whose components are names other than "." and "..". Makes its
  // folders. IoError, also if what is there is not a regular file. From any thread.
  Place find(const std::string& path);

  // Whether a file's modification time is the one that the file system of `place` stores for `time`: both are
  // rounded down to its unit. False if it does not store times that are set. From any thread.
  bool is_stored_time(const Place& place, const timespec& stored, const timespec& time);

  // Makes the names of files and folders survive a system crash, if the file system allows it. IoError.
  void sync() const;

 private:
  Fd open_folder(const std::string& path) const;
  std::int64_t time_unit(const Place& place);
  std::string name_of(const std::string& path) const;  // for messages

  std::string name_;
  Fd fd_;
  std::mutex mutex_;
  std::set<std::string> folders_;             // of outputs; guarded by mutex_ until sync()
  std::map<dev_t, std::int64_t> time_units_;  // guarded by mutex_
};

}  // namespace gpuaes
