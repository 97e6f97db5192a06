// A sink for a regular file that this program has opened.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/direct_writer.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {

class FileSink : public FdSink {
 public:
  // Writes from `offset` on. IoError.
  FileSink(Fd fd, std::string name, Cancel& cancel, std::uint64_t offset = 0);

  std::optional<std::size_t> place_in_page() const override;
  void write(std::span<const std::byte> bytes) override;
  void overwrite(std::uint64_t offset, std::span<const std::byte> bytes) override;
  void finish() override;

  // The bytes so far, with holes.
  std::uint64_t size() const noexcept;

  // Leaves a hole of `size` bytes. At the end of the file, it needs ftruncate(2) afterwards.
  void skip(std::uint64_t size);

  // From now on, writes directly to the disk, if the file system supports it. Bytes that do not fill a block
  // are held back.
  void begin_direct() { direct_ = DirectWriter::open(fd().get()); }
  bool is_direct() const noexcept { return direct_ != nullptr; }

  // Writes what was held back. From now on, writes go through the page cache. overwrite(), sync() and
  // finish() do this, too.
  void end_direct();

  // Reserves space in the file system, which limits fragmentation. Leaves the size of the file as it is.
  // Returns 0 or an errno value.
  int reserve(std::uint64_t offset, std::uint64_t size) const;

  // Bytes of free space in the file system, which other programs may need.
  std::uint64_t free_bytes() const;

  // Waits until everything written is on disk. IoError, Cancelled.
  void sync();

 private:
  std::uint64_t offset_;
  std::unique_ptr<DirectWriter> direct_;  // or null
};

// Copies a complete file to an empty one, calls `complete` with the descriptor of the copy, and then syncs
// it. IoError, Cancelled, and what `complete` throws.
void copy_file(
    Fd from, Fd to, const std::string& name, Cancel& cancel,
    const std::function<void(int fd)>& complete = [](int) {});

}  // namespace gpuaes
