// Direct writes (O_DIRECT in open(2)): the disk reads the writer's memory, and the page cache is not
// involved. This saves most of the CPU time of writing a file, and other programs' data stays in the cache.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/cancel.hpp"

namespace gpuaes {

// Writes whole blocks of a file, and holds back bytes that do not fill a block. Wipes them at the end,
// because they may be plaintext. One write is in progress at a time.
class DirectWriter {
 public:
  // Whether the file is on a local disk whose file system supports direct writes.
  static bool supports(int fd);

  // `fd` is open for writing, and no other process uses its file description, whose flags change. Writing
  // continues at its position. Returns null unless supports(fd).
  static std::unique_ptr<DirectWriter> open(int fd);
  ~DirectWriter();
  DirectWriter(const DirectWriter&) = delete;
  DirectWriter& operator=(const DirectWriter&) = delete;

  // Takes bytes from the front of `bytes`. At least 512 KiB are written without a copy if their memory has
  // the same offset within a page as their place in the file. Returns how many reached the file: 0 if all are
  // held back, or -1 with errno, for example EINVAL if the file system refuses direct writes after all. Then
  // `bytes` is what was neither written nor held back. Cancelled.
  ssize_t write(std::span<const std::byte>& bytes, Cancel& cancel);

  // The descriptor no longer writes directly. The bytes held back belong at its position.
  void stop();
  std::span<const std::byte> held_back() const { return {buffer_.get(), held_}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  DirectWriter(int fd, int flags, std::size_t block_bytes, std::uint64_t position);
  ssize_t write_memory(std::span<const std::byte> first, std::span<const std::byte> second, Cancel& cancel);
  void hold_back(std::span<const std::byte>& bytes, std::size_t size);

  int fd_;
  int flags_;  // without O_DIRECT
  std::size_t block_bytes_;
  std::size_t to_block_;  // bytes up to the first block, which are written through the page cache
  std::unique_ptr<std::byte, Free> buffer_;
  std::size_t held_ = 0;     // bytes in the buffer
  std::size_t touched_ = 0;  // the most that it ever held
  std::size_t call_bytes_;   // limits one write
  bool is_direct_ = false;   // the descriptor has O_DIRECT
};

}  // namespace gpuaes
