// An output file that several processes write together, each its own share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/directory.hpp"
#include "io/fd_source_sink.hpp"
#include "io/source_sink.hpp"

namespace gpuaes {

// The processes meet in a directory next to the file, NAME.ID-N, which contains the data so far and a file
// done.I for each share I that is complete. The process that finds all shares complete gives the data its
// name, and removes the directory. A directory is made together with its data, which is never replaced, so
// done.I always belongs to the data there; a directory without data is what a finished process has left. If
// there is a file of that name already, what would be written is compared with it instead.
class SharedOutput : public Sink {
 public:
  struct Place {
    std::string id;           // the same for all shares of one input, and for no other input
    std::uint32_t share, of;  // its number and how many there are
    std::uint64_t offset;     // of the share in the file, in bytes
    std::uint64_t file_bytes;
  };

  SharedOutput(std::string name, Cancel& cancel) : name_(std::move(name)), cancel_(cancel) {}

  // Call this before the first write. IoError if the file or the directory cannot be used.
  void open(const Place& place);

  // Also IoError if a file of that name has other bytes.
  void write(std::span<const std::byte> bytes) override;
  void finish() override;

 private:
  void make_folder();
  bool open_data();
  void open_existing(FdSource file);
  void finish_share();
  bool all_done() const;
  void publish();
  bool is_published() const;
  void remove_folder(const Directory& folder) const;

  const std::string name_;
  Cancel& cancel_;
  Place place_{};
  std::optional<Directory> parent_, directory_;
  std::string file_, folder_;  // their names in the parent
  bool made_folder_ = false;
  std::unique_ptr<FdSink> data_;      // null if the file exists
  std::optional<FdSource> compared_;  // the file that exists
  std::uint64_t at_ = 0;              // bytes of the share so far
};

}  // namespace gpuaes
