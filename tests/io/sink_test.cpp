// Sinks on descriptors, and their errors.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
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

TEST_CASE("a sink writes everything even if its reader is slow") {
  Cancel cancel;
  for (const bool socket : {false, true}) {
    CAPTURE(socket);
    PipeEnds ends = socket ? make_sockets() : make_pipe();
    auto read = in_thread([&] { return drain(ends.reader, std::chrono::milliseconds(1)); });
    const Bytes bytes = test_bytes((3 << 20) + 5);
    {
      FdSink sink(std::move(ends.writer), "pipe", cancel);
      sink.write(bytes);
      sink.write({});
      sink.finish();
    }
    CHECK(difference(result_of(std::move(read)), bytes) == "");
  }
}

TEST_CASE("a sink waits for an inherited non-blocking descriptor and does not change its flags") {
  Cancel cancel;
  PipeEnds pipe = make_pipe();
  Fd shared = shared_with(pipe.writer);
  REQUIRE(fcntl(shared.get(), F_SETFL, flags_of(shared) | O_NONBLOCK) == 0);
  const int flags = flags_of(shared);
  const Bytes bytes = test_bytes(3 << 20);
  auto written = in_thread([&] {
    FdSink sink(std::move(pipe.writer), "pipe", cancel);
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

TEST_CASE("writing to a pipe without a reader is a PipeClosed error that names it") {
  const IgnorePipeSignal ignore;
  Cancel cancel;
  for (const bool socket : {false, true}) {
    CAPTURE(socket);
    PipeEnds ends = socket ? make_sockets() : make_pipe();
    ends.reader.close();
    FdSink sink(std::move(ends.writer), "pipe", cancel);
    CHECK(failure_of([&] { sink.write(test_bytes(1)); }) ==
          "pipe closed: cannot write pipe after byte 0: Broken pipe");
    CHECK(error_of<IoError>([&] { sink.write(test_bytes(1)); })->exit() == Exit::io);
    CHECK(failure_of([&] { sink.write({}); }) == "");
    CHECK_FALSE(cancel.requested());
  }
}

TEST_CASE("closing the reader ends a write that is waiting") {
  const IgnorePipeSignal ignore;
  Cancel cancel;
  PipeEnds pipe = make_pipe();
  FdSink sink(std::move(pipe.writer), "pipe", cancel);
  const Bytes bytes = test_bytes(4 << 20);
  auto failure = in_thread([&] { return failure_of([&] { sink.write(bytes); }); });
  CHECK(eventually([&] {
    pollfd written{pipe.reader.get(), POLLIN, 0};
    return poll(&written, 1, 0) == 1;
  }));
  CHECK(is_waiting(failure));
  pipe.reader.close();
  const std::string said = result_of(std::move(failure));
  CHECK(contains(said, "pipe closed: cannot write pipe after byte "));
  CHECK_FALSE(contains(said, "after byte 0:"));
}

TEST_CASE("a full disk is an error with a hint") {
  Cancel cancel;
  FdSink sink(open_file("/dev/full", O_WRONLY, cancel), "full", cancel);
  const auto error = error_of<IoError>([&] { sink.write(test_bytes(1)); });
  REQUIRE(error);
  CHECK(std::string(error->what()) == "cannot write full after byte 0: No space left on device");
  CHECK(contains(error->hint(), "free some space"));
}

TEST_CASE("a descriptor that cannot be written is an error when the sink is created") {
  Cancel cancel;
  CHECK(failure_of([&] { FdSink(open_file("/dev/null", O_RDONLY, cancel), "null", cancel); }) ==
        "io: cannot write null: Bad file descriptor");
  CHECK(failure_of([&] { FdSink(Fd(-1), "closed", cancel); }) ==
        "io: cannot write closed: Bad file descriptor");
}

TEST_CASE("a sink appends if its descriptor was opened with O_APPEND") {
  Cancel cancel;
  const TempDir directory;
  write_file(directory / "file", test_bytes(100));
  FdSink sink(open_file(directory / "file", O_WRONLY | O_APPEND, cancel), "file", cancel);
  sink.write(test_bytes(50, 100));
  sink.finish();
  CHECK(difference(read_file(directory / "file"), test_bytes(150)) == "");
}

}  // namespace gpuaes
