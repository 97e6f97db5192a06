// Descriptors, and sources that read them: pipes, files, sockets, devices.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

}  // namespace

// Descriptors -------------------------------------------------------------------------------------

TEST_CASE("a descriptor has one owner, which closes it") {
  PipeEnds pipe = make_pipe();
  const int number = pipe.writer.get();
  {
    Fd moved = std::move(pipe.writer);
    CHECK(pipe.writer.get() == -1);
    CHECK(moved.get() == number);
    CHECK(fcntl(number, F_GETFD) >= 0);
  }
  CHECK(fcntl(number, F_GETFD) < 0);
  CHECK(pipe.writer.close() == 0);
  CHECK(Fd(fcntl(pipe.reader.get(), F_DUPFD_CLOEXEC, 0)).close() == 0);
}

TEST_CASE("a file that cannot be opened is an error that names it") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "missing";
  CHECK(failure_of([&] { open_file(name, O_RDONLY, cancel); }) ==
        "io: cannot open " + name + ": No such file or directory");
}

TEST_CASE("an open file is not inherited by other programs") {
  Cancel cancel;
  const Fd fd = open_file("/dev/null", O_RDONLY, cancel);
  CHECK((fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("closed standard descriptors are replaced by descriptors that cannot be read or written") {
  const int status = exit_of_child([] {
    for (const int fd : {0, 1, 2}) close(fd);
    occupy_standard_descriptors();
    int failed = 0;
    std::array<char, 1> byte{};
    if (fcntl(0, F_GETFD) < 0 || fcntl(1, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0) failed |= 1;
    if (read(0, byte.data(), 1) != -1 || errno != EBADF) failed |= 2;
    if (write(1, byte.data(), 1) != -1 || errno != EBADF) failed |= 4;
    if (write(2, byte.data(), 1) != -1 || errno != EBADF) failed |= 8;
    const int next = open("/dev/null", O_RDONLY);
    if (next < 3) failed |= 16;
    return failed;
  });
  CHECK(status == 0);
}

TEST_CASE("only closed standard descriptors are replaced") {
  for (const int closed : {0, 1, 2}) {
    CAPTURE(closed);
    const int status = exit_of_child([closed] {
      struct stat before[3], after[3];
      for (const int fd : {0, 1, 2}) dup2(open("/dev/zero", O_RDWR), fd);
      for (const int fd : {0, 1, 2}) fstat(fd, &before[fd]);
      close(closed);
      occupy_standard_descriptors();
      for (const int fd : {0, 1, 2}) {
        if (fstat(fd, &after[fd]) != 0) return 1;
        const bool same = before[fd].st_rdev == after[fd].st_rdev;
        if (same != (fd != closed)) return 2;
      }
      return 0;
    });
    CHECK(status == 0);
  }
}

// Sources -----------------------------------------------------------------------------------------

TEST_CASE("a pipe returns available data, and ends when its writer is closed") {
  Cancel cancel;
  PipeEnds pipe = make_pipe();
  FdSource source(std::move(pipe.reader), "pipe", cancel);
  CHECK(source.parallel_size() == 0);
  CHECK_FALSE(source.ready(std::chrono::milliseconds(0)));
  put(pipe.writer, test_bytes(10));
  CHECK(source.ready(std::chrono::milliseconds(0)));
  Bytes out(100);
  CHECK(source.read(out) == 10);
  CHECK(difference(std::span(out).first(10), test_bytes(10)) == "");
  pipe.writer.close();
  CHECK(source.ready(std::chrono::milliseconds(0)));
  CHECK(source.read(out) == 0);
  CHECK(source.read(out) == 0);
}

TEST_CASE("waiting for a pipe ends when input arrives or the requested time has passed") {
  Cancel cancel;
  PipeEnds pipe = make_pipe();
  FdSource source(std::move(pipe.reader), "pipe", cancel);
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(source.ready(a_while));
  CHECK(std::chrono::steady_clock::now() - start >= a_while);
  auto ready = in_thread([&] { return source.ready(std::chrono::minutes(10)); });
  CHECK(is_waiting(ready));
  put(pipe.writer, test_bytes(1));
  CHECK(result_of(std::move(ready)));
}

TEST_CASE("a read waits for the writer of a pipe") {
  Cancel cancel;
  PipeEnds pipe = make_pipe();
  FdSource source(std::move(pipe.reader), "pipe", cancel);
  auto all = in_thread([&] { return read_all(source); });
  CHECK(is_waiting(all));
  put(pipe.writer, test_bytes(5));
  CHECK(is_waiting(all));
  pipe.writer.close();
  CHECK(difference(result_of(std::move(all)), test_bytes(5)) == "");
}

TEST_CASE("a source waits for an inherited non-blocking pipe and does not change its flags") {
  Cancel cancel;
  PipeEnds pipe = make_pipe();
  const Fd shared = shared_with(pipe.reader);
  REQUIRE(fcntl(shared.get(), F_SETFL, flags_of(shared) | O_NONBLOCK) == 0);
  const int flags = flags_of(shared);
  FdSource source(std::move(pipe.reader), "pipe", cancel);
  auto all = in_thread([&] { return read_all(source); });
  CHECK(is_waiting(all));
  put(pipe.writer, test_bytes(1000));
  CHECK(is_waiting(all));
  CHECK(flags_of(shared) == flags);
  pipe.writer.close();
  CHECK(difference(result_of(std::move(all)), test_bytes(1000)) == "");
  CHECK(flags_of(shared) == flags);
}

TEST_CASE("a source does not change the flags of a blocking pipe") {
  Cancel cancel;
  PipeEnds pipe = make_pipe();
  const Fd shared = shared_with(pipe.reader);
  const int flags = flags_of(shared);
  FdSource source(std::move(pipe.reader), "pipe", cancel);
  put(pipe.writer, test_bytes(10));
  pipe.writer.close();
  read_all(source);
  CHECK(flags_of(shared) == flags);
}

TEST_CASE("a socket is read like a pipe") {
  Cancel cancel;
  PipeEnds sockets = make_sockets();
  FdSource source(std::move(sockets.reader), "socket", cancel);
  CHECK(source.parallel_size() == 0);
  auto all = in_thread([&] { return read_all(source); });
  put(sockets.writer, test_bytes(1000));
  CHECK(is_waiting(all));
  sockets.writer.close();
  CHECK(difference(result_of(std::move(all)), test_bytes(1000)) == "");
}

TEST_CASE("a pipe is enlarged if possible") {
  Cancel cancel;
  PipeEnds pipe = make_pipe();
  const Fd shared = shared_with(pipe.reader);
  const int before = fcntl(shared.get(), F_GETPIPE_SZ);
  const FdSource source(std::move(pipe.reader), "pipe", cancel);
  CHECK(fcntl(shared.get(), F_GETPIPE_SZ) >= before);
}

TEST_CASE("a file is read from the position of its descriptor, with read() and with read_at()") {
  Cancel cancel;
  const TempDir directory;
  const std::size_t size = 300001;
  write_file(directory / "file", test_bytes(size));
  for (const std::size_t offset : {0, 1, 100000}) {
    CAPTURE(offset);
    FdSource source = file_source(directory / "file", cancel, static_cast<off_t>(offset));
    const std::size_t rest = size - offset;
    CHECK(source.parallel_size() == rest);
    CHECK(difference(read_part(source, 0, 1000), test_bytes(1000, offset)) == "");
    CHECK(difference(read_part(source, 5, rest - 5), test_bytes(rest - 5, offset + 5)) == "");
    CHECK(read_part(source, rest, 0).empty());
    CHECK(source.ready(std::chrono::milliseconds(0)));
    CHECK(difference(read_all(source), test_bytes(rest, offset)) == "");  // unaffected by read_at()
    source.skip_to(rest - 7);
    CHECK(difference(read_all(source), test_bytes(7, size - 7)) == "");
  }
}

TEST_CASE("after begin_here(), offsets and sizes count from the end of the header") {
  Cancel cancel;
  const TempDir directory;
  write_file(directory / "file", test_bytes(100000));
  FdSource source = file_source(directory / "file", cancel, 10);
  Bytes header(100);
  REQUIRE(source.read(header) == header.size());
  source.begin_here();
  CHECK(source.size() == 100000 - 110);
  CHECK(source.parallel_size() == 100000 - 110);
  CHECK(difference(read_part(source, 0, 500), test_bytes(500, 110)) == "");
  source.skip_to(20);
  CHECK(difference(read_all(source), test_bytes(100000 - 130, 130)) == "");
}

TEST_CASE("several threads can read a file concurrently") {
  Cancel cancel;
  const TempDir directory;
  write_file(directory / "file", test_bytes(1 << 20));
  const FdSource source = file_source(directory / "file", cancel);
  std::vector<std::future<std::string>> readers;
  for (std::size_t i = 0; i < 4; ++i)
    readers.push_back(in_thread([&source, i] {
      std::string wrong;
      for (std::size_t at = i * 1000; at < (1 << 20) - 5000; at += 4000)
        wrong += difference(read_part(source, at, 5000), test_bytes(5000, at));
      return wrong;
    }));
  for (auto& reader : readers) CHECK(reader.get() == "");
}

TEST_CASE("a small file is not read in parallel") {
  Cancel cancel;
  const TempDir directory;
  for (const std::size_t size : {0, 1, 4096, 65536}) {
    write_file(directory / "file", test_bytes(size));
    FdSource source = file_source(directory / "file", cancel);
    CHECK(source.parallel_size() == 0);
    CHECK(difference(read_all(source), test_bytes(size)) == "");
  }
  write_file(directory / "file", test_bytes(65537));
  CHECK(file_source(directory / "file", cancel).parallel_size() == 65537);
}

TEST_CASE("a file whose descriptor is at or past its end is empty") {
  Cancel cancel;
  const TempDir directory;
  write_file(directory / "file", test_bytes(100000));
  for (const off_t offset : {100000, 100001, 1000000}) {
    FdSource source = file_source(directory / "file", cancel, offset);
    CHECK(source.parallel_size() == 0);
    CHECK(read_all(source).empty());
  }
}

TEST_CASE("a file that has grown is read to its new end") {
  Cancel cancel;
  const TempDir directory;
  for (const std::size_t size : {0, 100, 100000}) {
    CAPTURE(size);
    write_file(directory / "file", test_bytes(size));
    FdSource source = file_source(directory / "file", cancel);
    const std::uint64_t parallel = source.parallel_size();
    write_file(directory / "file", test_bytes(size + 5000));
    CHECK(source.parallel_size() == parallel);
    CHECK(difference(read_part(source, 0, static_cast<std::size_t>(parallel)),
                     test_bytes(static_cast<std::size_t>(parallel))) == "");
    source.skip_to(parallel);
    const std::size_t rest = size + 5000 - static_cast<std::size_t>(parallel);
    CHECK(difference(read_all(source), test_bytes(rest, static_cast<std::size_t>(parallel))) == "");
  }
}

TEST_CASE("a file that shrinks is an error for read() and read_at(), never the end of the input") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "file";
  for (const std::size_t left : {0, 1, 50000, 99999}) {
    CAPTURE(left);
    write_file(name, test_bytes(100000));
    FdSource source = file_source(name, cancel);
    REQUIRE(truncate(name.c_str(), static_cast<off_t>(left)) == 0);
    const std::string expected =
        "io: " + name + " shrank while it was being read, from 100000 to " + std::to_string(left) + " bytes";
    CHECK(failure_of([&] { read_part(source, 0, 100000); }) == expected);
    CHECK(difference(read_part(source, 0, left), test_bytes(left)) == "");
    CHECK(failure_of([&] { read_all(source); }) == expected);
  }
}

TEST_CASE("a small file that shrinks is also an error") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "file";
  write_file(name, test_bytes(1000));
  FdSource source = file_source(name, cancel, 100);
  REQUIRE(truncate(name.c_str(), 500) == 0);
  CHECK(failure_of([&] { read_all(source); }) ==
        "io: " + name + " shrank while it was being read, from 1000 to 500 bytes");
}

TEST_CASE("a descriptor that cannot be read is an error when the source is created") {
  Cancel cancel;
  const TempDir directory;
  CHECK(failure_of([&] { FdSource(open_file(directory.path(), O_RDONLY, cancel), "dir", cancel); }) ==
        "io: cannot read dir: Is a directory");
  CHECK(failure_of([&] { FdSource(open_file("/dev/null", O_WRONLY, cancel), "null", cancel); }) ==
        "io: cannot read null: Bad file descriptor");
  CHECK(failure_of([&] { FdSource(make_pipe().writer, "pipe", cancel); }) ==
        "io: cannot read pipe: Bad file descriptor");
  CHECK(failure_of([&] { FdSource(Fd(-1), "closed", cancel); }) ==
        "io: cannot read closed: Bad file descriptor");
}

TEST_CASE("devices and files without a size are read to their end") {
  Cancel cancel;
  FdSource null(open_file("/dev/null", O_RDONLY, cancel), "null", cancel);
  CHECK(null.parallel_size() == 0);
  CHECK(read_all(null).empty());

  FdSource zero(open_file("/dev/zero", O_RDONLY, cancel), "zero", cancel);
  CHECK(zero.parallel_size() == 0);
  Bytes out = test_bytes(1000);
  CHECK(zero.read(out) == 1000);
  CHECK(difference(out, Bytes(1000)) == "");

  FdSource proc(open_file("/proc/self/status", O_RDONLY, cancel), "status", cancel);
  CHECK(proc.parallel_size() == 0);
  CHECK(read_all(proc, 100).size() > 100);
}

TEST_CASE("a source reports the size at the time of opening") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "file";
  for (const std::size_t before : {0, 10}) {
    CAPTURE(before);
    write_file(name, test_bytes(before));
    FdSource source = file_source(name, cancel);
    write_file(name, test_bytes(1000));
    CHECK(source.size() == before);
    Bytes out(10);
    CHECK(source.read(out) == 10);
    source.begin_here();
    CHECK(source.size() == std::size_t{0});
  }
  CHECK_FALSE(FdSource(open_file("/proc/self/status", O_RDONLY, cancel), "status", cancel).size());
}

TEST_CASE("a file in sysfs that is shorter than its st_size is read without an error", "[optional]") {
  Cancel cancel;
  const std::string name = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!fs::exists(name)) return skip("no " + name);
  FdSource source(open_file(name, O_RDONLY, cancel), name, cancel);
  CHECK(source.parallel_size() == 0);
  CHECK_FALSE(read_all(source).empty());
}

}  // namespace gpuaes
