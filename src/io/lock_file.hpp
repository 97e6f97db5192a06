// A lock that one process holds at a time, on one host or on several that share the file system.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "io/cancel.hpp"
#include "io/fd.hpp"

namespace gpuaes {

// The file names the process and the host that hold the lock. The holder touches it every few seconds,
// because a process that was stopped, or whose host is down, may keep its lock. A file system may ignore
// locks of other hosts or mounts, or have none, so the lock alone does not prove that there is no other
// process.
class LockFile {
 public:
  // Waits until no other process holds the lock on `file`, which is open for writing. If it has to wait,
  // calls `waiting` with the holder. IoError naming `name` if the file cannot be locked, except for lack of
  // locks, or if the holder has not touched it while this process waited for a minute.
  LockFile(Fd file, std::string name, Cancel& cancel, const std::function<void(const std::string&)>& waiting);

  // Why there is no lock, as an errno value; otherwise 0.
  int error() const { return error_; }

 private:
  void wait(Cancel& cancel, const std::function<void(const std::string&)>& waiting);
  std::string holder() const;
  void touch_until(const std::stop_token& over);

  Fd file_;
  std::string name_;
  int error_ = 0;
  std::mutex mutex_;
  std::condition_variable_any ended_;  // its constructor allocates memory; the thread must not
  std::jthread toucher_;               // last: ends before the file is closed
};

}  // namespace gpuaes
