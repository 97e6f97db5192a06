// Windows of streams, sources and sinks. tests/cli/range/ checks which units a range needs, and its errors.
#include "run/range_stream.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "cipher/job.hpp"
#include "format/sessions.hpp"
#include "pipeline/rig.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/io_support.hpp"
#include "support/keys.hpp"
#include "support/memory_io.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

std::unique_ptr<Session> opened(std::uint64_t header_bytes) {
  return make_segment_session({.decrypt = true,
                               .key = make_key(test_bytes(32)),
                               .base_nonce = {{}, 12},
                               .place = {.input_bytes = header_bytes}});
}

// The test bytes as a source.
struct Whole {
  explicit Whole(std::size_t size, SourceScript script = {})
      : source(test_bytes(size), script, cancel, jitter) {}

  Cancel cancel;
  Jitter jitter;
  MemorySource source;
};

Bytes part_of(std::size_t begin, std::size_t size) {
  const Bytes all = test_bytes(begin + size);
  return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.end()};
}

}  // namespace

TEST_CASE("the jobs and errors of a window are those of the whole stream") {
  const auto whole = opened(175);
  const std::uint64_t begin = (std::uint64_t{1} << 33) * 16400;
  const WindowSession window(*whole, begin, (std::uint64_t{1} << 33) * 16384 + 100, false);
  const Bytes in(2 * 16400);
  Bytes out(2 * 16384);
  CHECK(window.output_size(in.size(), true) == out.size());
  CHECK(window.job({16400, in, out}).first_segment == (std::uint64_t{1} << 33) + 1);
  const Outcome bad = window.verify({16400, in, out}, 1);
  CHECK(bad.released == 16384);
  REQUIRE(bad.error.has_value());
  CHECK(std::string(bad.error->what()) == "the input is corrupt at byte " +
                                              std::to_string(175 + begin + 2 * 16400) +
                                              "; 32668 bytes of plaintext before that were verified");
  CHECK(contains(window.verify({0, in, out}, 0).error->what(), "; 0 bytes"));
  // The end of the stream was verified earlier.
  CHECK_FALSE(window.verify({0, in, out, true}, {}).error.has_value());
}

TEST_CASE("a window of a source returns that part of it, then ends") {
  for (const std::size_t begin : {0, 1, 50, 100})
    for (const std::size_t size : {0u, 1u, 49u, 50u}) {
      if (begin + size > 100) continue;
      for (const std::size_t each : {1u, 7u, 1000u}) {
        CAPTURE(begin, size, each);
        Whole whole(100);
        WindowSource window(whole.source, begin, size);
        CHECK(read_all(window, each) == part_of(begin, size));
        Bytes more(10);
        CHECK(window.read(more) == 0);
        CHECK(window.ready(std::chrono::milliseconds(0)));
      }
    }
}

TEST_CASE("lanes can read a window in parallel if they can read the whole source in parallel") {
  {
    Whole whole(100, {.parallel = 90});
    WindowSource window(whole.source, 30, 50);
    CHECK(window.parallel_size() == 50);
    CHECK(read_part(window, 0, 50) == part_of(30, 50));
    CHECK(read_part(window, 45, 5) == part_of(75, 5));
    window.skip_to(48);
    CHECK(read_all(window) == part_of(78, 2));
  }
  Whole pipe(100);
  CHECK(WindowSource(pipe.source, 30, 50).parallel_size() == 0);
}

TEST_CASE("a source that ends within its window is an error") {
  Whole whole(100);
  WindowSource window(whole.source, 90, 20);
  CHECK(contains(failure_of([&] { read_all(window); }), "io: the input shrank while it was being read"));
}

TEST_CASE("a window of a sink passes on that part, with writes of any size") {
  for (const std::size_t skipped : {0u, 1u, 10u, 100u})
    for (const std::size_t size : {0u, 1u, 10u, 90u})
      for (const std::size_t each : {1u, 3u, 10u, 100u}) {
        CAPTURE(skipped, size, each);
        Cancel cancel;
        Jitter jitter;
        MemorySink whole({}, cancel, jitter);
        WindowSink window(whole, skipped, size);
        const Bytes bytes = test_bytes(200);
        for (std::size_t at = 0; at < bytes.size(); at += each)
          window.write(std::span(bytes).subspan(at, std::min(each, bytes.size() - at)));
        window.finish();
        CHECK(whole.bytes() == part_of(skipped, size));
        CHECK(window.passed() == size);
      }
}

TEST_CASE("bytes that the sink fails to write do not count as passed") {
  Cancel cancel;
  Jitter jitter;
  MemorySink whole({.fail_at = 5}, cancel, jitter);
  WindowSink window(whole, 10, 20);
  CHECK(contains(failure_of([&] { window.write(test_bytes(100)); }), "the sink fails"));
  CHECK(window.passed() == 0);
}

}  // namespace gpuaes
