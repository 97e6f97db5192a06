#include "bench/input_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "io/fd_source_sink.hpp"

namespace gpuaes {

FileSpan rest_of_input() {
  const off_t begin = lseek(STDIN_FILENO, 0, SEEK_CUR);
  const off_t end = lseek(STDIN_FILENO, 0, SEEK_END);
  if (begin < 0 || end < 0) throw io_error("cannot seek in", standard_input_name, errno);
  struct stat status {};
  const bool is_file =
      fstat(STDIN_FILENO, &status) == 0 && (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode));
  if (!is_file || begin >= end) throw IoError("standard input is not a file with data left to read");
  return {static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)};
}

void read_range(FileSpan range, std::span<std::byte> buffer) {
  while (range.begin < range.end) {
    const ssize_t count =
        pread(STDIN_FILENO, buffer.data(), range.end - range.begin, static_cast<off_t>(range.begin));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw io_error("cannot read", standard_input_name, errno);
    if (count == 0) throw IoError("standard input shrank while it was read");
    range.begin += static_cast<std::uint64_t>(count);
    buffer = buffer.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace gpuaes
