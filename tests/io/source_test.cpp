// Descriptors, and sources that read them: pipes, files, sockets, devices.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"
#include "support/threads.hpp"

namespace gpuaes {

// Errors ------------------------------------------------------------------------------------------

TEST_CASE("an error of the system has a hint about the resource that is lacking") {
  const auto advice = [](int error) { return io_error("cannot open", "file", error).hint().advice; };
  CHECK(advice(EMFILE) == Advice::raise_file_limit);
  CHECK(advice(ENOMEM) == Advice::raise_memory_limit);
  CHECK(advice(EIO) == Advice::text);
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

}  // namespace gpuaes
