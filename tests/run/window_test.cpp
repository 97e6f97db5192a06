// Parts of an input and of an output.
#include <string>

#include "run/window.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/io_support.hpp"
#include "support/memory_io.hpp"
#include "support/threads.hpp"

namespace gpuaes {
namespace {

// The test bytes as a file, `shared` of which lanes may read.
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

TEST_CASE("a window of a source is that part of it, and ends") {
  for (const std::size_t begin : {0, 1, 50, 100})
    for (const std::size_t size : {0u, 1u, 49u, 50u}) {
      if (begin + size > 100) continue;
      for (const std::size_t most : {1u, 7u, 1000u}) {
        CAPTURE(begin, size, most);
        Whole whole(100);
        WindowSource window(whole.source, begin, size);
        CHECK(read_all(window, most) == part_of(begin, size));
        Bytes more(10);
        CHECK(window.read(more) == 0);
        CHECK(window.ready(std::chrono::milliseconds(0)));
      }
    }
}

TEST_CASE("lanes read a window where they may read the whole") {
  Whole whole(100, {.shared = 90});
  WindowSource window(whole.source, 30, 50);
  CHECK(window.shared_size() == 50);
  CHECK(read_part(window, 0, 50) == part_of(30, 50));
  CHECK(read_part(window, 45, 5) == part_of(75, 5));
  window.skip_to(48);
  CHECK(read_all(window) == part_of(78, 2));

  Whole pipe(100);
  CHECK(WindowSource(pipe.source, 30, 50).shared_size() == 0);
}

TEST_CASE("a source that ends within its window is an error") {
  Whole whole(100);
  WindowSource window(whole.source, 90, 20);
  CHECK(contains(failure_of([&] { read_all(window); }), "the input ended before"));
}

TEST_CASE("a window of a sink passes that part on, however it is cut") {
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

TEST_CASE("what the sink behind a window fails to take is not passed") {
  Cancel cancel;
  Jitter jitter;
  MemorySink whole({.fail_at = 5}, cancel, jitter);
  WindowSink window(whole, 10, 20);
  CHECK(contains(failure_of([&] { window.write(test_bytes(100)); }), "the sink fails"));
  CHECK(window.passed() == 0);
}

}  // namespace gpuaes
