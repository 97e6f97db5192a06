// Requests to stop, the signals that cause them, and their effect on sources and sinks.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "process/control.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"
#include "support/threads.hpp"

namespace gpuaes {

TEST_CASE("nothing is stopped before a request, and only the first signal counts") {
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

TEST_CASE("a failure is replaced by a signal, and can be withdrawn, but a signal cannot") {
  for (const int signal : {0, SIGINT}) {
    CAPTURE(signal);
    Cancel cancel;
    const Control control(cancel);
    cancel.request(0);
    cancel.request(signal);
    CHECK(failure_of([&] { cancel.check(); }) == "cancelled: " + std::to_string(signal));
    cancel.withdraw_failure();
    CHECK(cancel.requested() == (signal != 0));

    PipeEnds pipe = make_pipe();
    FdSource source(std::move(pipe.reader), "pipe", cancel);
    auto failure = in_thread([&] { return failure_of([&] { read_all(source); }); });
    if (signal == 0) {
      CHECK(is_waiting(failure));
      cancel.request(SIGTERM);
    }
    CHECK(result_of(std::move(failure)) == "cancelled: " + std::to_string(signal == 0 ? SIGTERM : signal));
  }
}

TEST_CASE("sources and sinks do nothing after a request to stop") {
  Cancel cancel;
  const TempDir directory;
  write_file(directory / "file", test_bytes(100000));
  FdSource source = file_source(directory / "file", cancel);
  PipeEnds pipe = make_pipe();
  FdSink sink(std::move(pipe.writer), "pipe", cancel);
  cancel.request(SIGTERM);
  Bytes out(10);
  for (const std::string& failure :
       {failure_of([&] { source.read(out); }), failure_of([&] { source.read_at(0, out); }),
        failure_of([&] { source.ready(std::chrono::milliseconds(0)); }), failure_of([&] { sink.write(out); }),
        failure_of([&] { open_file("/dev/null", O_RDONLY, cancel); })})
    CHECK(failure == "cancelled: 15");
}

TEST_CASE("a request to stop ends calls that are waiting") {
  const TempDir directory;
  REQUIRE(mkfifo((directory / "fifo").c_str(), 0600) == 0);
  struct Case {
    std::string_view name;
    std::function<void(PipeEnds& pipe, Cancel& cancel)> call;
  };
  const std::array cases{
      Case{"read",
           [](PipeEnds& pipe, Cancel& cancel) {
             FdSource source(shared_with(pipe.reader), "pipe", cancel);
             read_all(source);
           }},
      Case{"ready",
           [](PipeEnds& pipe, Cancel& cancel) {
             FdSource(shared_with(pipe.reader), "pipe", cancel).ready(std::chrono::minutes(10));
           }},
      Case{"write",
           [](PipeEnds& pipe, Cancel& cancel) {
             FdSink(shared_with(pipe.writer), "pipe", cancel).write(Bytes(8 << 20));
           }},
      Case{"open of a FIFO to read",
           [&](PipeEnds&, Cancel& cancel) { open_file(directory / "fifo", O_RDONLY, cancel); }},
      Case{"open of a FIFO to write",
           [&](PipeEnds&, Cancel& cancel) { open_output(directory / "fifo", cancel); }},
  };
  for (const Case& each : cases)
    for (const int flags : {0, O_NONBLOCK}) {
      CAPTURE(each.name, flags);
      Cancel cancel;
      const Control control(cancel);
      PipeEnds pipe = make_pipe(flags);
      auto failure = in_thread([&] { return failure_of([&] { each.call(pipe, cancel); }); });
      CHECK(is_waiting(failure));
      cancel.request(SIGTERM);
      CHECK(result_of(std::move(failure)) == "cancelled: 15");
    }
}

TEST_CASE("a request to stop ends a call that begins after it") {
  Cancel cancel;
  const Control control(cancel);
  const PipeEnds pipe = make_pipe();
  std::promise<void> entered;
  auto result = in_thread([&] {
    const Cancel::Blocking blocking(cancel);
    entered.set_value();
    while (!cancel.requested()) std::this_thread::yield();
    std::this_thread::sleep_for(a_while);  // the first signals arrive before the call
    char byte = 0;
    return read(pipe.reader.get(), &byte, 1) < 0 ? errno : 0;
  });
  entered.get_future().wait();
  cancel.request(SIGTERM);
  CHECK(result_of(std::move(result)) == EINTR);
}

TEST_CASE("calls are permitted for a time after a request to stop, or until the next request") {
  for (const int first : {0, SIGTERM})
    for (const bool another : {false, true}) {
      CAPTURE(first, another);
      PipeEnds pipe = make_pipe();
      Cancel cancel;
      const Control control(cancel);
      if (first != 0) cancel.request(first);
      cancel.allow_for(another ? std::chrono::minutes(10) : std::chrono::milliseconds(a_while));
      FdSink sink(std::move(pipe.writer), "pipe", cancel);
      sink.write(test_bytes(10));
      // More than the pipe can hold.
      auto ended = in_thread([&] { return failure_of([&] { sink.write(Bytes(4 << 20)); }); });
      if (another) {
        CHECK(is_waiting(ended));
        cancel.request(SIGINT);
      }
      CHECK(result_of(std::move(ended)) == "cancelled: " + std::to_string(another ? SIGINT : first));
      Bytes begin(10);
      CHECK(read(pipe.reader.get(), begin.data(), begin.size()) == 10);
      CHECK(difference(begin, test_bytes(10)) == "");
    }
}

TEST_CASE("a request to stop ends the waits of many threads at any time") {
  for (int repeat = 0; repeat < 50; ++repeat) {
    Cancel cancel;
    const Control control(cancel);
    PipeEnds pipe = make_pipe();
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

TEST_CASE("a control created after a request ends calls that were already waiting") {
  Cancel cancel;
  PipeEnds pipe = make_pipe();
  FdSource source(std::move(pipe.reader), "pipe", cancel);
  auto failure = in_thread([&] { return failure_of([&] { read_all(source); }); });
  CHECK(is_waiting(failure));
  cancel.request(SIGTERM);
  CHECK(is_waiting(failure));
  const Control control(cancel);
  CHECK(result_of(std::move(failure)) == "cancelled: 15");
}

TEST_CASE("a control may be destroyed during a request, and another one created") {
  for (int repeat = 0; repeat < 100; ++repeat) {
    Cancel cancel;
    std::optional<Control> control(cancel);
    auto requested = in_thread([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(repeat));
      cancel.request(SIGTERM);
      return cancel.requested();
    });
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    control.reset();
    control.emplace(cancel);
    CHECK(result_of(std::move(requested)));
  }
}

TEST_CASE("without a thread, a control cannot be created, but requests still work") {
  Cancel cancel;
  {
    const NoThreads none;
    CHECK_THROWS_AS(Control(cancel), std::system_error);
  }
  cancel.request(SIGTERM);
  CHECK(failure_of([&] { cancel.check(); }) == "cancelled: 15");
}

}  // namespace gpuaes
