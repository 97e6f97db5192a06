// Direct reads (O_DIRECT in open(2)): the disk writes to the reader's memory, and the page cache is not
// involved. This saves most of the CPU time of reading a file, and other programs' data stays in the cache.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/cancel.hpp"
#include "io/fd.hpp"

namespace gpuaes {

class DirectReader {
 public:
  // Offsets, sizes and addresses of direct reads are multiples of this, which suits all common disks.
  static constexpr std::size_t block_bytes = 4096;

  // `fd` is a regular file or a block device of `size` bytes. Returns null if its file system does not
  // support direct reads, or if the file cannot be mapped to query the page cache. Does not use the position
  // or the flags of `fd`, which other processes may share.
  static std::unique_ptr<DirectReader> open(const Fd& fd, std::uint64_t size);
  ~DirectReader();
  DirectReader(const DirectReader&) = delete;
  DirectReader& operator=(const DirectReader&) = delete;

  // Whether all of the range, which must be within `size` and not empty, is in the page cache. Tests only
  // some pages. The kernel tells only the owner of a file and users who may write to it; for others, it
  // reports that everything is.
  bool is_cached(std::uint64_t offset, std::uint64_t size) const;

  // Reads up to out.size() bytes at `offset`, and returns how many. Reads none if the range is cached or
  // small, if direct reads fail, or unless the memory begins at the same place in a block as the range. The
  // caller reads the rest through the page cache. Cancelled.
  std::size_t read(std::uint64_t offset, std::span<std::byte> out, Cancel& cancel) const;

 private:
  DirectReader(Fd fd, std::byte* pages, std::uint64_t size);
  bool is_page_cached(std::uint64_t offset) const;

  Fd fd_;
  std::byte* pages_;  // the file, mapped without access, to query the page cache
  std::uint64_t size_;
  mutable std::atomic<bool> fails_ = false;
};

}  // namespace gpuaes
