// A lock that one process holds at a time, on one host or on several that share the file system.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "io/cancel.hpp"
#include "io/fd.hpp"

namespace gpuaes {

// The file names the process and the host that hold the lock. The holder touches it every few seconds,
// because a process that was stopped, or whose host is down, may keep its lock. A file system may ignore
// locks of other hosts or mounts, so the lock alone does not prove that there is no other process.
class LockFile {
 public:
  // Waits until no other process holds the lock on `file`, which is open for writing. If it has to wait,
  // calls `waiting` with the holder. IoError naming `name` if the file cannot be locked, or if the holder has
  // not touched it while this process waited for a minute.
  LockFile(Fd file, std::string name, Cancel& cancel, const std::function<void(const std::string&)>& waiting);

 private:
  std::string holder() const;

  Fd file_;
  std::string name_;
  std::jthread toucher_;  // last: ends before the file is closed
};

// The name of this host, for the names and the contents of files.
std::string host_name();

}  // namespace gpuaes
