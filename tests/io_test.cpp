// Sources and sinks on real descriptors: pipes, files, sockets, devices; output files; and how they are
// stopped.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "io/cancel.hpp"
#include "io/fd.hpp"
#include "io/output_file.hpp"
#include "io/signals.hpp"
#include "support.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

constexpr SinkRules lenient{.quiet_pipe = false, .allow_terminal = true};
const struct stat no_input {};  // of no file: nothing is the same as it

struct Ends {
  Fd reader{-1}, writer{-1};
};

Ends make_pipe(int flags = 0) {
  std::array<int, 2> fds{};
  REQUIRE(pipe2(fds.data(), O_CLOEXEC | flags) == 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

Ends make_sockets() {
  std::array<int, 2> fds{};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

void put(const Fd& fd, std::span<const std::byte> bytes) {
  REQUIRE(write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
}

int flags_of(const Fd& fd) {
  return fcntl(fd.get(), F_GETFL);
}

// A second descriptor of the same description, as the program shares its input with the shell. From any
// thread.
Fd shared_with(const Fd& fd) {
  const int copy = fcntl(fd.get(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw std::runtime_error("cannot duplicate a descriptor");
  return Fd(copy);
}

// All that a source has, by reads of at most `most` bytes.
Bytes read_all(Source& source, std::size_t most = 1 << 16) {
  Bytes all, piece(most);
  while (const std::size_t count = source.read(piece)) {
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return all;
}

Bytes read_part(const Source& source, std::uint64_t offset, std::size_t size) {
  Bytes bytes(size);
  source.read_at(offset, bytes);
  return bytes;
}

// All that comes out of a descriptor, slowly, until its other end is closed.
Bytes drain(const Fd& fd, std::chrono::milliseconds delay = {}) {
  Bytes all, piece(1 << 18);
  for (;;) {
    std::this_thread::sleep_for(delay);
    const ssize_t count = read(fd.get(), piece.data(), piece.size());
    if (count <= 0) return all;
    all.insert(all.end(), piece.begin(), piece.begin() + count);
  }
}

// A file as input, from where `offset` stands.
FdSource file_source(const std::string& name, Cancel& cancel, off_t offset = 0) {
  Fd fd = open_file(name, O_RDONLY, cancel);
  REQUIRE(lseek(fd.get(), offset, SEEK_SET) == offset);
  return FdSource(std::move(fd), name, cancel);
}

// While it lives SIGPIPE is ignored, as in the program.
struct IgnorePipeSignal {
  IgnorePipeSignal() : old(signal(SIGPIPE, SIG_IGN)) {}
  ~IgnorePipeSignal() { signal(SIGPIPE, old); }
  sighandler_t old;
};

// Runs `body` in a child process, and returns how that ended, as waitpid() says it.
template <class Body>
int status_of_child(Body body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int status = 99;
    try {
      status = body();
    } catch (...) {
    }
    _exit(status);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

template <class Body>
int exit_of_child(Body body) {
  const int status = status_of_child(std::move(body));
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

mode_t mode_of(const std::string& name) {
  struct stat status {};
  REQUIRE(stat(name.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

}  // namespace

// Descriptors -------------------------------------------------------------------------------------

TEST_CASE("a descriptor has one owner, who closes it") {
  Ends pipe = make_pipe();
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

TEST_CASE("an opened file is not handed down to other programs") {
  Cancel cancel;
  const Fd fd = open_file("/dev/null", O_RDONLY, cancel);
  CHECK((fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("closed standard descriptors are occupied by what can be neither read nor written") {
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

TEST_CASE("a closed standard descriptor is occupied, and open ones stay what they are") {
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

TEST_CASE("a file is the same as itself by any name, and as no other") {
  const TempDir directory;
  write_file(directory / "a", test_bytes(1));
  write_file(directory / "b", test_bytes(1));
  fs::create_hard_link(directory / "a", directory / "link");
  const auto status = [&](const std::string& name) {
    struct stat result {};
    REQUIRE(stat(name.c_str(), &result) == 0);
    return result;
  };
  CHECK(is_same_file(status(directory / "a"), status(directory / "a")));
  CHECK(is_same_file(status(directory / "a"), status(directory / "link")));
  CHECK_FALSE(is_same_file(status(directory / "a"), status(directory / "b")));
  CHECK_FALSE(is_same_file(status("/dev/null"), status("/dev/null")));  // what is written is not read
  CHECK_FALSE(is_same_file(status(directory / "a"), no_input));
}

// Sources -----------------------------------------------------------------------------------------

TEST_CASE("a pipe gives what is there, and ends when its writer is gone") {
  Cancel cancel;
  Ends pipe = make_pipe();
  FdSource source(std::move(pipe.reader), "pipe", cancel);
  CHECK(source.shared_size() == 0);
  CHECK_FALSE(source.size().has_value());
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

TEST_CASE("waiting for a pipe to be ready lasts as long as asked, and no longer than needed") {
  Cancel cancel;
  Ends pipe = make_pipe();
  FdSource source(std::move(pipe.reader), "pipe", cancel);
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(source.ready(a_while));
  CHECK(std::chrono::steady_clock::now() - start >= a_while);
  auto ready = in_thread([&] { return source.ready(std::chrono::minutes(10)); });
  CHECK(is_waiting(ready));
  put(pipe.writer, test_bytes(1));
  CHECK(result_of(std::move(ready)));
}

TEST_CASE("a read waits for a pipe's writer") {
  Cancel cancel;
  Ends pipe = make_pipe();
  FdSource source(std::move(pipe.reader), "pipe", cancel);
  auto all = in_thread([&] { return read_all(source); });
  CHECK(is_waiting(all));
  put(pipe.writer, test_bytes(5));
  CHECK(is_waiting(all));
  pipe.writer.close();
  CHECK(difference(result_of(std::move(all)), test_bytes(5)) == "");
}

TEST_CASE("a pipe that came non-blocking is waited for, and stays non-blocking") {
  Cancel cancel;
  Ends pipe = make_pipe();
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

TEST_CASE("a pipe that came blocking stays so") {
  Cancel cancel;
  Ends pipe = make_pipe();
  const Fd shared = shared_with(pipe.reader);
  const int flags = flags_of(shared);
  FdSource source(std::move(pipe.reader), "pipe", cancel);
  put(pipe.writer, test_bytes(10));
  pipe.writer.close();
  read_all(source);
  CHECK(flags_of(shared) == flags);
}

TEST_CASE("a socket is read as a pipe is") {
  Cancel cancel;
  Ends sockets = make_sockets();
  FdSource source(std::move(sockets.reader), "socket", cancel);
  CHECK(source.shared_size() == 0);
  auto all = in_thread([&] { return read_all(source); });
  put(sockets.writer, test_bytes(1000));
  CHECK(is_waiting(all));
  sockets.writer.close();
  CHECK(difference(result_of(std::move(all)), test_bytes(1000)) == "");
}

TEST_CASE("a pipe is asked to hold more than it does by default") {
  Cancel cancel;
  Ends pipe = make_pipe();
  const Fd shared = shared_with(pipe.reader);
  const int before = fcntl(shared.get(), F_GETPIPE_SZ);
  const FdSource source(std::move(pipe.reader), "pipe", cancel);
  CHECK(fcntl(shared.get(), F_GETPIPE_SZ) >= before);
}

TEST_CASE("a file is read from where its descriptor stands, by reader and lanes alike") {
  Cancel cancel;
  const TempDir directory;
  const std::size_t size = 300001;
  write_file(directory / "file", test_bytes(size));
  for (const std::size_t offset : {0, 1, 100000}) {
    CAPTURE(offset);
    FdSource source = file_source(directory / "file", cancel, static_cast<off_t>(offset));
    const std::size_t rest = size - offset;
    CHECK(source.shared_size() == rest);
    CHECK(source.size() == rest);
    CHECK(difference(read_part(source, 0, 1000), test_bytes(1000, offset)) == "");
    CHECK(difference(read_part(source, 5, rest - 5), test_bytes(rest - 5, offset + 5)) == "");
    CHECK(read_part(source, rest, 0).empty());
    CHECK(source.ready(std::chrono::milliseconds(0)));
    CHECK(difference(read_all(source), test_bytes(rest, offset)) == "");  // read_at has moved nothing
    source.skip_to(rest - 7);
    CHECK(difference(read_all(source), test_bytes(7, size - 7)) == "");
  }
}

TEST_CASE("several lanes read one file at once") {
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

TEST_CASE("a small file leaves nothing for lanes to read in parallel") {
  Cancel cancel;
  const TempDir directory;
  for (const std::size_t size : {0, 1, 4096, 65536}) {
    write_file(directory / "file", test_bytes(size));
    FdSource source = file_source(directory / "file", cancel);
    CHECK(source.shared_size() == 0);
    CHECK(source.size().value_or(0) == size);
    CHECK(difference(read_all(source), test_bytes(size)) == "");
  }
  write_file(directory / "file", test_bytes(65537));
  CHECK(file_source(directory / "file", cancel).shared_size() == 65537);
}

TEST_CASE("a file whose descriptor stands at its end or behind it is empty") {
  Cancel cancel;
  const TempDir directory;
  write_file(directory / "file", test_bytes(100000));
  for (const off_t offset : {100000, 100001, 1000000}) {
    FdSource source = file_source(directory / "file", cancel, offset);
    CHECK(source.shared_size() == 0);
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
    const std::uint64_t shared = source.shared_size();
    write_file(directory / "file", test_bytes(size + 5000));
    CHECK(source.shared_size() == shared);
    CHECK(difference(read_part(source, 0, static_cast<std::size_t>(shared)),
                     test_bytes(static_cast<std::size_t>(shared))) == "");
    source.skip_to(shared);
    const std::size_t rest = size + 5000 - static_cast<std::size_t>(shared);
    CHECK(difference(read_all(source), test_bytes(rest, static_cast<std::size_t>(shared))) == "");
  }
}

TEST_CASE("a file that shrinks is an error for reader and lanes, and never an end") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "file";
  for (const std::size_t left : {0, 1, 50000, 99999}) {
    CAPTURE(left);
    write_file(name, test_bytes(100000));
    FdSource source = file_source(name, cancel);
    REQUIRE(truncate(name.c_str(), static_cast<off_t>(left)) == 0);
    const std::string expected =
        "io: " + name + " shrank while it was read: from 100000 bytes to " + std::to_string(left);
    CHECK(failure_of([&] { read_part(source, 0, 100000); }) == expected);
    CHECK(difference(read_part(source, 0, left), test_bytes(left)) == "");
    CHECK(failure_of([&] { read_all(source); }) == expected);
  }
}

TEST_CASE("a small file that shrinks is an error too") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "file";
  write_file(name, test_bytes(1000));
  FdSource source = file_source(name, cancel, 100);
  REQUIRE(truncate(name.c_str(), 500) == 0);
  CHECK(failure_of([&] { read_all(source); }) ==
        "io: " + name + " shrank while it was read: from 1000 bytes to 500");
}

TEST_CASE("what cannot be read is an error when it is opened") {
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
  CHECK(null.shared_size() == 0);
  CHECK(read_all(null).empty());

  FdSource zero(open_file("/dev/zero", O_RDONLY, cancel), "zero", cancel);
  CHECK(zero.shared_size() == 0);
  Bytes out = test_bytes(1000);
  CHECK(zero.read(out) == 1000);
  CHECK(difference(out, Bytes(1000)) == "");

  FdSource proc(open_file("/proc/self/status", O_RDONLY, cancel), "status", cancel);
  CHECK(proc.shared_size() == 0);
  CHECK(read_all(proc, 100).size() > 100);
}

TEST_CASE("a file of sysfs, which is shorter than it says, is read without an error") {
  Cancel cancel;
  const std::string name = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!fs::exists(name)) {
    WARN("skipped: no " << name);
    return;
  }
  FdSource source(open_file(name, O_RDONLY, cancel), name, cancel);
  CHECK(source.shared_size() == 0);
  CHECK_FALSE(read_all(source).empty());
}

// Sinks -------------------------------------------------------------------------------------------

TEST_CASE("a sink writes everything, though its reader is slow") {
  Cancel cancel;
  for (const bool socket : {false, true}) {
    CAPTURE(socket);
    Ends ends = socket ? make_sockets() : make_pipe();
    auto read = in_thread([&] { return drain(ends.reader, std::chrono::milliseconds(1)); });
    const Bytes bytes = test_bytes((3 << 20) + 5);
    {
      FdSink sink(std::move(ends.writer), "pipe", cancel, true);
      sink.write(bytes);
      sink.write({});
      sink.finish();
    }
    CHECK(difference(result_of(std::move(read)), bytes) == "");
  }
}

TEST_CASE("a sink that came non-blocking is waited for, and stays non-blocking") {
  Cancel cancel;
  Ends pipe = make_pipe();
  Fd shared = shared_with(pipe.writer);
  REQUIRE(fcntl(shared.get(), F_SETFL, flags_of(shared) | O_NONBLOCK) == 0);
  const int flags = flags_of(shared);
  const Bytes bytes = test_bytes(3 << 20);
  auto written = in_thread([&] {
    FdSink sink(std::move(pipe.writer), "pipe", cancel, true);
    sink.write(bytes);
    return true;
  });
  CHECK(is_waiting(written));
  CHECK(flags_of(shared) == flags);
  auto read = in_thread([&] { return drain(pipe.reader); });
  CHECK(result_of(std::move(written)));
  CHECK(flags_of(shared) == flags);
  shared.close();
  CHECK(difference(result_of(std::move(read)), bytes) == "");
}

TEST_CASE(
    "a pipe without a reader ends the program by SIGPIPE, or is an error where that signal was ignored") {
  const IgnorePipeSignal ignore;
  Cancel cancel;
  for (const bool socket : {false, true}) {
    Ends quiet = socket ? make_sockets() : make_pipe();
    Ends loud = socket ? make_sockets() : make_pipe();
    quiet.reader.close();
    loud.reader.close();
    FdSink quiet_sink(std::move(quiet.writer), "pipe", cancel, true);
    FdSink loud_sink(std::move(loud.writer), "pipe", cancel, false);
    CHECK(failure_of([&] { quiet_sink.write(test_bytes(1)); }) == "cancelled: " + std::to_string(SIGPIPE));
    CHECK(failure_of([&] { loud_sink.write(test_bytes(1)); }) == "io: cannot write pipe: Broken pipe");
  }
}

TEST_CASE("a reader that goes while the sink waits for it is noticed") {
  const IgnorePipeSignal ignore;
  Cancel cancel;
  Ends pipe = make_pipe();
  FdSink sink(std::move(pipe.writer), "pipe", cancel, true);
  auto failure = in_thread([&] { return failure_of([&] { sink.write(test_bytes(4 << 20)); }); });
  CHECK(is_waiting(failure));
  pipe.reader.close();
  CHECK(result_of(std::move(failure)) == "cancelled: " + std::to_string(SIGPIPE));
}

TEST_CASE("a full disk is an error, at the write or at the end") {
  Cancel cancel;
  FdSink sink(open_file("/dev/full", O_WRONLY, cancel), "full", cancel, true);
  CHECK(failure_of([&] { sink.write(test_bytes(1)); }) == "io: cannot write full: No space left on device");
}

TEST_CASE("what cannot be written is an error when the sink is made") {
  Cancel cancel;
  CHECK(failure_of([&] { FdSink(open_file("/dev/null", O_RDONLY, cancel), "null", cancel, true); }) ==
        "io: cannot write null: Bad file descriptor");
  CHECK(failure_of([&] { FdSink(Fd(-1), "closed", cancel, true); }) ==
        "io: cannot write closed: Bad file descriptor");
}

TEST_CASE("a sink appends where its descriptor was opened to append") {
  Cancel cancel;
  const TempDir directory;
  write_file(directory / "file", test_bytes(100));
  FdSink sink(open_file(directory / "file", O_WRONLY | O_APPEND, cancel), "file", cancel, true);
  sink.write(test_bytes(50, 100));
  sink.finish();
  CHECK(difference(read_file(directory / "file"), test_bytes(150)) == "");
}

// Output files ------------------------------------------------------------------------------------

namespace {

std::unique_ptr<Sink> open_output(const std::string& name, Cancel& cancel,
                                  const struct stat& input = no_input) {
  return open_sink(name, input, lenient, cancel);
}

void write_output(const std::string& name, std::span<const std::byte> bytes) {
  Cancel cancel;
  const auto sink = open_output(name, cancel);
  sink->write(bytes);
  sink->finish();
}

}  // namespace

TEST_CASE("an output file appears only when it is finished") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "out";
  const auto sink = open_output(name, cancel);
  sink->write(test_bytes(1000));
  CHECK_FALSE(fs::exists(name));
  sink->finish();
  CHECK(difference(read_file(name), test_bytes(1000)) == "");
  CHECK(directory.count() == 1);
}

TEST_CASE("an output file that is not finished leaves nothing, and the old one as it was") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "out";
  open_output(name, cancel)->write(test_bytes(1000));
  CHECK(directory.count() == 0);
  write_file(name, test_bytes(10));
  open_output(name, cancel)->write(test_bytes(1000, 7));
  CHECK(difference(read_file(name), test_bytes(10)) == "");
  CHECK(directory.count() == 1);
}

TEST_CASE("an output file replaces an old one whole, and whoever reads the old one keeps it") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "out";
  write_file(name, test_bytes(5000));
  FdSource old = file_source(name, cancel);
  write_output(name, test_bytes(10, 3));
  CHECK(difference(read_file(name), test_bytes(10, 3)) == "");
  CHECK(difference(read_all(old), test_bytes(5000)) == "");
}

TEST_CASE("an empty output is a file too") {
  const TempDir directory;
  write_output(directory / "out", {});
  CHECK(read_file(directory / "out").empty());
}

TEST_CASE("an output file keeps the mode of the old one, and a new one has the mode that files have") {
  const TempDir directory;
  for (const mode_t mode : {0600, 0640, 0444, 0777}) {
    const std::string name = directory / ("out" + std::to_string(mode));
    write_file(name, {});
    REQUIRE(chmod(name.c_str(), mode) == 0);
    write_output(name, test_bytes(10));
    CHECK(mode_of(name) == mode);
  }
  const mode_t old = umask(027);
  write_output(directory / "new", test_bytes(10));
  const mode_t after = umask(old);
  CHECK(after == 027);
  CHECK(mode_of(directory / "new") == 0640);
}

TEST_CASE("an output that is not finished yet is its owner's alone, or as the old one") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "out";
  write_file(name, {});
  REQUIRE(chmod(name.c_str(), 0600) == 0);
  const auto sink = open_output(name, cancel);
  for (const auto& entry : fs::directory_iterator(directory.path()))
    CHECK((mode_of(entry.path().string()) & 077) == 0);
}

TEST_CASE("symbolic links to an output are followed, and stay") {
  const TempDir directory;
  fs::create_directory(directory / "other");
  const std::string target = directory / "other/target";
  write_file(target, test_bytes(10));
  fs::create_symlink("other/target", directory / "relative");
  fs::create_symlink(target, directory / "absolute");
  fs::create_symlink("relative", directory / "chain");
  std::size_t size = 100;
  for (const std::string_view link : {"relative", "absolute", "chain"}) {
    CAPTURE(link);
    write_output(directory / link, test_bytes(++size));
    CHECK(fs::is_symlink(directory / link));
    CHECK(difference(read_file(target), test_bytes(size)) == "");
  }
  CHECK(directory.count() == 4);
}

TEST_CASE("a symbolic link to nothing makes the file that it names") {
  Cancel cancel;
  const TempDir directory;
  fs::create_directory(directory / "other");
  fs::create_symlink("other/target", directory / "dangling");
  fs::create_symlink("dangling", directory / "chain");
  open_output(directory / "chain", cancel)->write(test_bytes(5));
  CHECK_FALSE(fs::exists(directory / "other/target"));
  write_output(directory / "chain", test_bytes(77));
  CHECK(fs::is_symlink(directory / "chain"));
  CHECK(fs::is_symlink(directory / "dangling"));
  CHECK(difference(read_file(directory / "other/target"), test_bytes(77)) == "");
}

TEST_CASE("symbolic links that go round are an error") {
  Cancel cancel;
  const TempDir directory;
  fs::create_symlink("b", directory / "a");
  fs::create_symlink("a", directory / "b");
  CHECK(contains(failure_of([&] { open_output(directory / "a", cancel); }),
                 "Too many levels of symbolic links"));
}

TEST_CASE("an output that cannot be made is an error that names it, and leaves nothing") {
  Cancel cancel;
  const TempDir directory;
  const std::string missing = directory / "missing/out";
  CHECK(failure_of([&] { open_output(missing, cancel); }) ==
        "io: cannot create " + missing + ": No such file or directory");
  write_file(directory / "file", {});
  CHECK(contains(failure_of([&] { open_output(directory / "file/out", cancel); }), "Not a directory"));
  CHECK(contains(failure_of([&] { open_output(directory.path(), cancel); }), "Is a directory"));
  CHECK(contains(failure_of([&] { open_output(directory / "new/", cancel); }), "io: "));
  CHECK(contains(failure_of([&] { open_output("", cancel); }), "No such file or directory"));
  CHECK(directory.count() == 1);
}

TEST_CASE("an output in a directory that goes away is an error") {
  Cancel cancel;
  const TempDir directory;
  fs::create_directory(directory / "sub");
  const auto sink = open_output(directory / "sub/out", cancel);
  sink->write(test_bytes(10));
  fs::remove_all(directory / "sub");
  CHECK(contains(failure_of([&] { sink->finish(); }), "io: cannot rename"));
}

TEST_CASE("an output without a directory in its name lands in the working directory") {
  const TempDir directory;
  const fs::path before = fs::current_path();
  fs::current_path(directory.path());
  write_output("out", test_bytes(10));
  fs::current_path(before);
  CHECK(difference(read_file(directory / "out"), test_bytes(10)) == "");
  CHECK(directory.count() == 1);
}

TEST_CASE("an output that is the input is refused, by whatever name") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "file";
  write_file(name, test_bytes(100));
  fs::create_symlink("file", directory / "symlink");
  fs::create_hard_link(name, directory / "hardlink");
  const FdSource input = file_source(name, cancel);
  for (const std::string& output :
       {name, directory / "symlink", directory / "hardlink", directory / "./file"})
    CHECK(failure_of([&] { open_output(output, cancel, input.status()); }) ==
          "io: input and output are the same file: " + output);
  CHECK(difference(read_file(name), test_bytes(100)) == "");
  CHECK(failure_of([&] { open_output(directory / "other", cancel, input.status()); }) == "");
}

TEST_CASE("the input as standard output is refused") {
  const TempDir directory;
  const std::string name = directory / "file";
  write_file(name, test_bytes(100));
  const int status = exit_of_child([&] {
    Cancel cancel;
    const FdSource input(open_file(name, O_RDONLY, cancel), name, cancel);
    dup2(open(name.c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO);
    return failure_of([&] { open_sink(std::nullopt, input.status(), lenient, cancel); }) ==
                   "io: input and output are the same file: standard output"
               ? 0
               : 1;
  });
  CHECK(status == 0);
}

TEST_CASE("standard input and output are what a run without names uses") {
  const TempDir directory;
  write_file(directory / "in", test_bytes(100));
  const int status = exit_of_child([&] {
    Cancel cancel;
    dup2(open((directory / "in").c_str(), O_RDONLY), STDIN_FILENO);
    dup2(open((directory / "out").c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    FdSource source = open_source(std::nullopt, cancel);
    const auto sink = open_sink(std::nullopt, source.status(), lenient, cancel);
    sink->write(read_all(source));
    sink->finish();
    return 0;
  });
  CHECK(status == 0);
  CHECK(difference(read_file(directory / "out"), test_bytes(100)) == "");
}

TEST_CASE("a FIFO is written in place") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "fifo";
  REQUIRE(mkfifo(name.c_str(), 0600) == 0);
  const Fd reader = open_file(name, O_RDONLY | O_NONBLOCK, cancel);
  const auto sink = open_output(name, cancel);
  sink->write(test_bytes(1000));
  Bytes out(1000);
  CHECK(read(reader.get(), out.data(), out.size()) == 1000);
  CHECK(difference(out, test_bytes(1000)) == "");
  sink->finish();
  CHECK(fs::is_fifo(name));
  CHECK(directory.count() == 1);
}

TEST_CASE("devices are written in place") {
  write_output("/dev/null", test_bytes(1000));
  CHECK(fs::is_character_file("/dev/null"));
  Cancel cancel;
  const auto sink = open_output("/dev/full", cancel);
  CHECK(failure_of([&] { sink->write(test_bytes(1)); }) ==
        "io: cannot write /dev/full: No space left on device");
  CHECK(fs::is_character_file("/dev/full"));
}

TEST_CASE("a pipe that is named by its descriptor is written in place") {
  Cancel cancel;
  Ends pipe = make_pipe();
  for (const std::string_view directory : {"/dev/fd/", "/proc/self/fd/"}) {
    CAPTURE(directory);
    const std::string name = std::string(directory) + std::to_string(pipe.writer.get());
    CHECK(failure_of([&] {
            const auto sink = open_output(name, cancel);
            sink->write(test_bytes(100));
            sink->finish();
          }) == "");
    Bytes out(100);
    CHECK(read(pipe.reader.get(), out.data(), out.size()) == 100);
    CHECK(difference(out, test_bytes(100)) == "");
  }
}

TEST_CASE("a FIFO whose reader has gone is quiet or an error, as its rules say") {
  const IgnorePipeSignal ignore;
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "fifo";
  REQUIRE(mkfifo(name.c_str(), 0600) == 0);
  for (const bool quiet : {false, true}) {
    Fd reader = open_file(name, O_RDONLY | O_NONBLOCK, cancel);
    const auto sink = open_sink(name, no_input, {.quiet_pipe = quiet, .allow_terminal = true}, cancel);
    reader.close();
    CHECK(contains(failure_of([&] { sink->write(test_bytes(1)); }),
                   quiet ? "cancelled: 13" : "io: cannot write"));
  }
}

TEST_CASE("ciphertext is not written to a terminal, and plaintext may be") {
  Cancel cancel;
  const Fd master(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (master.get() < 0 || grantpt(master.get()) != 0 || unlockpt(master.get()) != 0) {
    WARN("skipped: no terminals here");
    return;
  }
  const std::string name = ptsname(master.get());
  const auto open_with = [&](bool allow) {
    return failure_of(
        [&] { open_sink(name, no_input, {.quiet_pipe = true, .allow_terminal = allow}, cancel); });
  };
  CHECK(contains(open_with(false), "usage: ciphertext is not written to a terminal"));
  CHECK(open_with(true) == "");
}

// Stopping ----------------------------------------------------------------------------------------

TEST_CASE("nothing is cancelled until it is requested, and the first request stands") {
  Cancel cancel;
  CHECK_FALSE(cancel.requested());
  CHECK(failure_of([&] { cancel.check(); }) == "");
  CHECK(failure_of([&] { Cancel::Blocking blocking(cancel); }) == "");
  cancel.request(SIGINT);
  cancel.request(SIGTERM);
  cancel.request(0);
  CHECK(cancel.requested());
  CHECK(failure_of([&] { cancel.check(); }) == "cancelled: " + std::to_string(SIGINT));
  CHECK(failure_of([&] { Cancel::Blocking blocking(cancel); }) == "cancelled: " + std::to_string(SIGINT));
}

TEST_CASE("sources and sinks do nothing once a stop was requested") {
  Cancel cancel;
  const TempDir directory;
  write_file(directory / "file", test_bytes(100000));
  FdSource source = file_source(directory / "file", cancel);
  Ends pipe = make_pipe();
  FdSink sink(std::move(pipe.writer), "pipe", cancel, true);
  cancel.request(SIGTERM);
  Bytes out(10);
  for (const std::string& failure :
       {failure_of([&] { source.read(out); }), failure_of([&] { source.read_at(0, out); }),
        failure_of([&] { source.ready(std::chrono::milliseconds(0)); }), failure_of([&] { sink.write(out); }),
        failure_of([&] { open_file("/dev/null", O_RDONLY, cancel); })})
    CHECK(failure == "cancelled: 15");
}

TEST_CASE("a request to stop ends calls that wait") {
  const TempDir directory;
  REQUIRE(mkfifo((directory / "fifo").c_str(), 0600) == 0);
  struct Case {
    std::string_view name;
    bool non_blocking;
    std::function<void(Ends& pipe, Cancel& cancel)> call;
  };
  const std::array cases{
      Case{"read", false,
           [](Ends& pipe, Cancel& cancel) {
             FdSource source(shared_with(pipe.reader), "pipe", cancel);
             read_all(source);
           }},
      Case{"read of a non-blocking pipe", true,
           [](Ends& pipe, Cancel& cancel) {
             FdSource source(shared_with(pipe.reader), "pipe", cancel);
             read_all(source);
           }},
      Case{"ready", false,
           [](Ends& pipe, Cancel& cancel) {
             FdSource(shared_with(pipe.reader), "pipe", cancel).ready(std::chrono::minutes(10));
           }},
      Case{"write", false,
           [](Ends& pipe, Cancel& cancel) {
             FdSink(shared_with(pipe.writer), "pipe", cancel, true).write(Bytes(8 << 20));
           }},
      Case{"write to a non-blocking pipe", true,
           [](Ends& pipe, Cancel& cancel) {
             FdSink(shared_with(pipe.writer), "pipe", cancel, true).write(Bytes(8 << 20));
           }},
      Case{"open of a FIFO to read", false,
           [&](Ends&, Cancel& cancel) { open_file(directory / "fifo", O_RDONLY, cancel); }},
      Case{"open of a FIFO to write", false,
           [&](Ends&, Cancel& cancel) { open_output(directory / "fifo", cancel); }},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    Cancel cancel;
    Ends pipe = make_pipe(each.non_blocking ? O_NONBLOCK : 0);
    auto failure = in_thread([&] { return failure_of([&] { each.call(pipe, cancel); }); });
    CHECK(is_waiting(failure));
    cancel.request(SIGTERM);
    CHECK(result_of(std::move(failure)) == "cancelled: 15");
  }
}

TEST_CASE("a request ends a call that begins only after it") {
  Cancel cancel;
  const Ends pipe = make_pipe();
  std::promise<void> entered;
  auto result = in_thread([&] {
    const Cancel::Blocking blocking(cancel);
    entered.set_value();
    while (!cancel.requested()) std::this_thread::yield();
    std::this_thread::sleep_for(a_while);  // signals come before the call does
    char byte = 0;
    return read(pipe.reader.get(), &byte, 1) < 0 ? errno : 0;
  });
  entered.get_future().wait();
  cancel.request(SIGTERM);
  CHECK(result_of(std::move(result)) == EINTR);
}

TEST_CASE("a request to stop ends many waiting threads, whenever it comes") {
  for (int repeat = 0; repeat < 50; ++repeat) {
    Cancel cancel;
    Ends pipe = make_pipe();
    std::vector<std::future<std::string>> readers;
    for (int i = 0; i < 4; ++i)
      readers.push_back(in_thread([&] {
        return failure_of([&] {
          FdSource source(shared_with(pipe.reader), "pipe", cancel);
          read_all(source);
        });
      }));
    std::this_thread::sleep_for(std::chrono::microseconds(repeat * 20));
    cancel.request(SIGINT);
    for (auto& reader : readers)
      CHECK(result_of(std::move(reader)) == "cancelled: " + std::to_string(SIGINT));
  }
}

TEST_CASE("other signals do not end a read") {
  Cancel cancel;
  Ends pipe = make_pipe();
  FdSource source(std::move(pipe.reader), "pipe", cancel);
  std::promise<pthread_t> thread;
  auto all = in_thread([&] {
    thread.set_value(pthread_self());
    return read_all(source);
  });
  const pthread_t reader = thread.get_future().get();
  CHECK(is_waiting(all));
  for (int i = 0; i < 20; ++i) {
    pthread_kill(reader, SIGURG);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(is_waiting(all));
  put(pipe.writer, test_bytes(3));
  pipe.writer.close();
  CHECK(result_of(std::move(all)).size() == 3);
}

TEST_CASE("signals that users end a filter with become a request to stop") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    CAPTURE(number);
    const sighandler_t old = signal(number, SIG_DFL);
    {
      Cancel cancel;
      const SignalWatch watch(cancel);
      Ends pipe = make_pipe();
      FdSource source(std::move(pipe.reader), "pipe", cancel);
      auto failure = in_thread([&] { return failure_of([&] { read_all(source); }); });
      CHECK(is_waiting(failure));
      kill(getpid(), number);
      CHECK(result_of(std::move(failure)) == "cancelled: " + std::to_string(number));
    }
    signal(number, old);
  }
}

TEST_CASE("signals that were ignored stay ignored") {
  const sighandler_t old = signal(SIGHUP, SIG_IGN);
  const sighandler_t old_pipe = signal(SIGPIPE, SIG_DFL);
  {
    Cancel cancel;
    const SignalWatch watch(cancel);
    CHECK_FALSE(watch.pipe_was_ignored());
    kill(getpid(), SIGHUP);
    std::this_thread::sleep_for(a_while);
    CHECK_FALSE(cancel.requested());
  }
  CHECK(signal(SIGHUP, old) == SIG_IGN);
  CHECK(signal(SIGPIPE, SIG_IGN) == SIG_DFL);
  {
    Cancel cancel;
    const SignalWatch watch(cancel);
    CHECK(watch.pipe_was_ignored());
  }
  CHECK(signal(SIGPIPE, old_pipe) == SIG_IGN);
}

TEST_CASE("a process ends by the signal that stopped it") {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) {
    const int status = status_of_child([number]() -> int {
      signal(number, SIG_IGN);
      die_by(number);
    });
    CAPTURE(number);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == number);
  }
}

}  // namespace gpuaes
