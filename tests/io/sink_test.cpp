// Sinks on descriptors, and their errors.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
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

TEST_CASE(
    "each call that writes at most 1 MiB to a file is checked, and is the last one if the check fails") {
  const TempDir directory;
  Cancel cancel;
  constexpr std::size_t unit = 1 << 20;
  const Bytes bytes = test_bytes(3 * unit + 5);
  for (const std::size_t allowed : {1, 2, 10}) {
    const std::string name = directory / "file";
    FdSink sink(open_file(name, O_WRONLY | O_CREAT | O_TRUNC, cancel), name, cancel);
    std::size_t checks = 0;
    sink.check_calls([&] {
      if (++checks > allowed) throw IoError("checked");
    });
    const std::string failure = failure_of([&] { sink.write(bytes); });
    CHECK(failure == (allowed < 4 ? "io: checked" : ""));
    CHECK(checks == std::min(allowed + 1, std::size_t{4}));
    CHECK(std::filesystem::file_size(name) == std::min(allowed * unit, bytes.size()));
  }
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

}  // namespace gpuaes
