// An output file that several processes write together, each its own share.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "io/directory.hpp"
#include "io/fd_source_sink.hpp"
#include "io/lock_file.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

// The processes meet in a directory next to the file, NAME.ID-N, which contains the data so far, and for each
// share I a file lock.I, and a file done.I when it is complete. Only the process that holds the lock writes
// the share, and no process does once done.I exists. The process that finds all shares complete gives the
// data its name, and removes the directory. A directory is made together with its data, which is never
// replaced, so done.I always belongs to the data there; a directory without data is what a finished process
// has left.
//
// A lock may fail to exclude other processes, for example between two mounts. So before each write, the
// process also checks that the data still has its name and that there is no file. If there is one from the
// beginning, what would be written is compared with it instead.
class SharedOutput : public Sink {
 public:
  struct Place {
    std::string id;           // the same for all shares of one input, and for no other input
    std::uint32_t share, of;  // its number and how many there are
    std::uint64_t offset;     // of the share in the file, in bytes
    std::uint64_t file_bytes;
  };

  // `note` is called with what the user should know.
  SharedOutput(std::string name, Cancel& cancel, std::function<void(const std::string&)> note)
      : name_(std::move(name)), cancel_(cancel), note_(std::move(note)) {}

  // Call this before the first write. Waits while another process writes the share. IoError if the file or
  // the directory cannot be used, or the other process makes no progress.
  void open(const Place& place);

  // Whether another process has completed the share. If so, there is nothing to write.
  bool is_done() const noexcept { return done_; }

  // IoError also if a file of that name has other contents, or appears in the meantime.
  void write(std::span<const std::byte> bytes) override;
  void finish() override;
  void publish(const std::function<void()>& last_step) override;

 private:
  void make_folder();
  void create(const std::string& file) const;
  bool open_current();
  bool open_folder();
  bool lock_share();
  bool open_data();
  void open_existing(FdSource file);
  bool is_current() const;
  void check_current() const;
  void remove_finished_folder() const;
  void mark_done() const;
  bool all_done() const;
  void name_file();
  bool is_published() const;
  void remove_folder(const Directory& folder) const;

  const std::string name_;
  Cancel& cancel_;
  const std::function<void(const std::string&)> note_;
  Place place_{};
  std::optional<Directory> parent_, directory_;
  std::string file_, folder_;  // their names in the parent
  bool made_folder_ = false;
  std::optional<LockFile> lock_;
  std::unique_ptr<FdSink> data_;  // null if the file exists, or the share is complete
  struct statx data_status_ {};
  bool done_ = false;
  std::optional<FdSource> compared_;  // the file that exists
  std::uint64_t at_ = 0;              // bytes of the share so far
};

}  // namespace gpuaes
