// An output file that several processes write together, each its own share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "io/source_sink.hpp"

namespace gpuaes {

// The processes meet in a directory next to the file, NAME.ID-N, which contains the data so far, and for each
// share I a file lock.I, and a file done.I when it is complete. Only the process that holds the lock writes
// the share, and no process does once done.I exists. The process that finds all shares complete gives the
// data its name, and removes the directory. A directory is made together with its data, which is never
// replaced, so done.I always belongs to the data there; a directory without data is what a finished process
// has left.
//
// A lock may fail to exclude other processes, for example between two mounts, or not exist. So the mode of
// unfinished data has a mark, which is removed before the data gets its name, and each call that writes is
// preceded by a check that it is still there: a name may come from a cache, but a descriptor shows what the
// server knows. A process that finds the mark removed has nothing more to do. On file systems without modes,
// it checks that the data still has its name and that there is no file. If there is one from the beginning,
// what would be written is compared with it instead.
class SharedOutput : public Sink {
 public:
  struct Place {
    std::string id;               // the same for all shares of one input, and for no other input
    std::uint32_t share, of;      // its number and how many there are
    std::uint64_t offset, bytes;  // of the share in the file
    std::uint64_t file_bytes;
  };

  // What the user should know: that the process waits, or that there are no locks.
  struct Notices {
    std::function<void(const std::string&)> note, warn;
  };

  // A file of at least `direct_from` bytes is written directly to the disk, if possible.
  static std::unique_ptr<SharedOutput> make(std::string name, std::uint64_t direct_from, Cancel& cancel,
                                            Notices notices);

  // Call this before the first write. Waits while another process writes the share. IoError if the file or
  // the directory cannot be used, or the other process makes no progress. write() and later steps: IoError
  // also if a file of that name has other contents, or appears in the meantime.
  virtual void open(const Place& place) = 0;

  // Whether another process has completed the share. If so, there is nothing to write.
  virtual bool is_done() const = 0;
};

}  // namespace gpuaes
