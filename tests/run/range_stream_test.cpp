// Ranges of a stream: the units they need, their errors, and windows of sources and sinks.
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

std::unique_ptr<Session> opened(std::uint64_t header_bytes = 0) {
  return make_segment_session({.decrypt = true,
                               .key = make_key(test_bytes(32)),
                               .base_nonce = {{}, 12},
                               .place = {.input_bytes = header_bytes}});
}

Bytes sealed(std::size_t size) {
  const auto session = make_segment_session({.key = make_key(test_bytes(32)), .base_nonce = {{}, 12}});
  const Bytes in = test_bytes(size);
  Bytes out(session->output_size(size, true));
  make_cpu_lane()->start(session->job({0, in, out}));
  return out;
}

// The place of a range in `body`, or why it has none.
struct Found {
  RangePlace place{};
  std::string failure;
};
Found find(const Session& session, const Bytes& body, const ByteRange& range) {
  Cancel cancel;
  Jitter jitter;
  MemorySource source(body, {}, cancel, jitter);
  Found found;
  found.failure = failure_of([&] { found.place = find_range(range, source, session, body.size()); });
  return found;
}

bool is_at(const Found& found, std::uint64_t begin, std::uint64_t size, std::uint64_t skipped) {
  return found.failure.empty() && found.place.body_offset == begin && found.place.body_bytes == size &&
         found.place.skipped_bytes == skipped;
}

constexpr std::uint64_t max_number = std::numeric_limits<std::uint64_t>::max();

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

TEST_CASE("a range needs only the segments that it overlaps") {
  const auto session = opened();
  const Bytes body = sealed(2 * segment_bytes + 100);
  CHECK(is_at(find(*session, body, {0, 1}), 0, 16400, 0));
  CHECK(is_at(find(*session, body, {16383, 1}), 0, 16400, 16383));
  CHECK(is_at(find(*session, body, {16383, 2}), 0, 2 * 16400, 16383));
  CHECK(is_at(find(*session, body, {16384, 16384}), 16400, 16400, 0));
  CHECK(is_at(find(*session, body, {16384, 16385}), 16400, 16400 + 116, 0));
  CHECK(is_at(find(*session, body, {32868, 0}), 32800, 0, 100));
  CHECK(is_at(find(*session, body, {5, {}}), 0, body.size(), 5));
  CHECK(find(*session, body, {5, {}}).place.plaintext_bytes == 2 * segment_bytes + 95);
  // After whole segments, the empty last one is opened once, and not again for the range.
  CHECK(is_at(find(*session, sealed(2 * segment_bytes), {16384, {}}), 16400, 16400, 0));
  CHECK(is_at(find(*session, sealed(0), {0, {}}), 0, 0, 0));
}

TEST_CASE("a range in counter mode needs only the blocks that it overlaps") {
  const auto session = raw_session();
  const Bytes body = test_bytes(50);
  CHECK(is_at(find(*session, body, {15, 2}), 0, 32, 15));
  CHECK(is_at(find(*session, body, {16, 34}), 16, 34, 0));
  CHECK(is_at(find(*session, body, {50, {}}), 48, 0, 2));
}

TEST_CASE("a range past the end is refused, even if its numbers overflow") {
  const auto session = opened();
  const Bytes body = sealed(100);
  for (const ByteRange& range :
       {ByteRange{101, 0}, ByteRange{101, {}}, ByteRange{100, 1}, ByteRange{0, 101},
        ByteRange{max_number, max_number}, ByteRange{1, max_number}, ByteRange{max_number, {}}})
    CHECK(contains(find(*session, body, range).failure,
                   "the range extends past the end of the plaintext, which has 100 bytes"));
  CHECK(find(*session, body, {100, 0}).failure.empty());
}

TEST_CASE("no range is found if the end is not authentic") {
  const auto session = opened(175);
  const Bytes whole = sealed(segment_bytes + 100);
  for (const std::size_t size : {0u, 15u, 16400u, 16415u}) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(contains(find(*session, cut, {0, 0}).failure,
                   "truncated after byte " + std::to_string(175 + size) + "; 0 bytes"));
  }
  for (const std::size_t size : {16u, 1000u, 16399u, 16416u, 16515u}) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(
        contains(find(*session, cut, {0, 0}).failure,
                 "corrupt or truncated at byte " + std::to_string(175 + size / 16400 * 16400) + "; 0 bytes"));
  }
}

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

// Windows -----------------------------------------------------------------------------------------

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
