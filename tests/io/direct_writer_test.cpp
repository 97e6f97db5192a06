// Direct writes, by sinks and output files.
#include "io/direct_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "io/direct_reader.hpp"
#include "io/file_sink.hpp"
#include "io/output_file.hpp"
#include "io/shared_output.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"

namespace gpuaes {
namespace {

constexpr char no_direct_writes[] = "the folder for tests does not allow direct writes";
constexpr std::size_t page = Sink::page_bytes;

Fd create(const std::string& name) {
  return Fd(open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
}

bool can_write_directly(const TempDir& directory) {
  const Fd fd = create(directory / "probe");
  return DirectWriter::open(fd.get()) != nullptr;
}

bool is_cached(const std::string& name, std::uint64_t offset, std::uint64_t size) {
  const Fd fd(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  REQUIRE(fstat(fd.get(), &status) == 0);
  const auto reader = DirectReader::open(fd, static_cast<std::uint64_t>(status.st_size));
  return reader == nullptr || reader->is_cached(offset, size);
}

// Where in a page the memory of a piece begins.
enum class Place { as_in_file, elsewhere };

void write_pieces(Sink& sink, std::span<const std::byte> bytes, std::size_t piece, Place place,
                  std::uint64_t offset = 0) {
  Bytes memory(piece + 2 * page);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const auto part = bytes.subspan(at, std::min(piece, bytes.size() - at));
    const std::size_t wanted = (offset + at) % page + (place == Place::elsewhere ? 16 : 0);
    const std::size_t begin = (wanted - reinterpret_cast<std::uintptr_t>(memory.data())) % page;
    const auto room = std::span(memory).subspan(begin, part.size());
    std::ranges::copy(part, room.begin());
    sink.write(room);
    std::ranges::fill(room, std::byte{0xa5});
  }
}

}  // namespace

TEST_CASE("a file that is written directly has the bytes of all pieces, wherever they begin and end",
          "[optional]") {
  const TempDir directory;
  if (!can_write_directly(directory)) return skip(no_direct_writes);
  Cancel cancel;
  const std::string name = directory / "file";
  const Bytes all = test_bytes((4 << 20) + 12345);
  struct Case {
    std::size_t size, piece;
  };
  for (const auto& [size, piece] :
       {Case{1, 1}, Case{4095, 1000}, Case{4096, 4096}, Case{4097, 4096}, Case{100000, 777},
        Case{1 << 20, 16400}, Case{(1 << 20) + 1, 1 << 20}, Case{all.size(), 65552},
        Case{all.size(), 524288 + 4095}, Case{all.size(), 1049601}, Case{all.size(), all.size()}})
    for (const Place place : {Place::as_in_file, Place::elsewhere}) {
      CAPTURE(size, piece, place);
      FileSink sink(create(name), name, cancel);
      sink.begin_direct();
      REQUIRE(sink.is_direct());
      write_pieces(sink, std::span(all).first(size), piece, place);
      CHECK(sink.is_direct());
      sink.finish();
      if (size > (2 << 20)) CHECK_FALSE(is_cached(name, 0, 2 << 20));
      CHECK(difference(read_file(name), std::span(all).first(size)) == "");
    }
}

TEST_CASE("direct writes begin at a block, wherever the file has been written to", "[optional]") {
  const TempDir directory;
  if (!can_write_directly(directory)) return skip(no_direct_writes);
  Cancel cancel;
  const std::string name = directory / "file";
  const Bytes all = test_bytes(3000000);
  for (const std::size_t begin : {1, 4096, 70000, 131072}) {
    CAPTURE(begin);
    FileSink sink(create(name), name, cancel);
    sink.write(std::span(all).first(begin));
    sink.begin_direct();
    write_pieces(sink, std::span(all).subspan(begin), 600000, Place::as_in_file, begin);
    CHECK(sink.is_direct());
    sink.finish();
    CHECK(difference(read_file(name), all) == "");
  }
}

TEST_CASE("what was written directly can be overwritten", "[optional]") {
  const TempDir directory;
  if (!can_write_directly(directory)) return skip(no_direct_writes);
  Cancel cancel;
  const std::string name = directory / "file";
  for (const std::size_t size : {200, 5000, 100000}) {
    CAPTURE(size);
    Bytes all = test_bytes(size);
    FileSink sink(create(name), name, cancel);
    sink.begin_direct();
    sink.write(all);
    const Bytes header = test_bytes(100, 7);
    sink.overwrite(0, header);
    std::ranges::copy(header, all.begin());
    sink.finish();
    CHECK(difference(read_file(name), all) == "");
  }
}

TEST_CASE("if a direct write is refused, the rest is written through the page cache", "[optional]") {
  const TempDir directory;
  if (!can_write_directly(directory)) return skip(no_direct_writes);
  Cancel cancel;
  const std::string name = directory / "file";
  const Bytes all = test_bytes(3000000);
  for (const Place place : {Place::as_in_file, Place::elsewhere}) {
    FileSink sink(create(name), name, cancel);
    sink.begin_direct();
    write_pieces(sink, std::span(all).first(1200000), 600000, place);
    const off_t reached = lseek(sink.fd().get(), 0, SEEK_CUR);
    REQUIRE(lseek(sink.fd().get(), 1, SEEK_CUR) ==
            reached + 1);  // not a block: direct writes fail with EINVAL
    write_pieces(sink, std::span(all).subspan(1200000), 600000, place, 1200000);
    CHECK_FALSE(sink.is_direct());
    sink.finish();
    Bytes expected = all;
    expected.insert(expected.begin() + reached, std::byte{0});
    CHECK(difference(read_file(name), expected) == "");
  }
}

TEST_CASE("at a limit on file sizes, direct writes fail after the same byte as buffered writes",
          "[optional]") {
  const TempDir directory;
  if (!can_write_directly(directory)) return skip(no_direct_writes);
  const std::string name = directory / "file";
  for (const rlim_t limit : {1 << 20, (1 << 20) + 4096, (1 << 20) + 1000}) {
    CAPTURE(limit);
    const int exit = exit_of_child([&] {
      Cancel cancel;
      signal(SIGXFSZ, SIG_IGN);
      const rlimit file_size{limit, limit};
      if (setrlimit(RLIMIT_FSIZE, &file_size) != 0) return 1;
      FileSink sink(create(name), name, cancel);
      sink.begin_direct();
      const Bytes all = test_bytes(3 << 20);
      const std::string failure = failure_of([&] { write_pieces(sink, all, 600000, Place::as_in_file); });
      return failure == fmt::format("io: cannot write {} after byte {}: File too large", name, limit) ? 0 : 2;
    });
    CHECK(exit == 0);
    CHECK(difference(read_file(name), test_bytes(limit)) == "");
  }
}

TEST_CASE("a direct write ends if the program is told to stop", "[optional]") {
  const TempDir directory;
  if (!can_write_directly(directory)) return skip(no_direct_writes);
  Cancel cancel;
  FileSink sink(create(directory / "file"), "file", cancel);
  sink.begin_direct();
  cancel.request(0);
  CHECK(failure_of([&] { sink.write(test_bytes(3 << 20)); }) == "cancelled: 0");
}

TEST_CASE("memory, pipes and devices are not written directly") {
  for (const char* const name : {"/proc/self/comm", "/dev/null"}) {
    const Fd fd(open(name, O_WRONLY | O_CLOEXEC));
    CHECK(DirectWriter::open(fd.get()) == nullptr);
  }
  CHECK(DirectWriter::open(make_pipe().writer.get()) == nullptr);
  const Fd memory(memfd_create("test", MFD_CLOEXEC));
  CHECK(DirectWriter::open(memory.get()) == nullptr);
}

// Output files ------------------------------------------------------------------------------------

TEST_CASE("a large output file has its size and no more space, whether its size was known or not",
          "[optional]") {
  const TempDir directory;
  if (!can_write_directly(directory)) return skip(no_direct_writes);
  Cancel cancel;
  const std::string name = directory / "out";
  const Bytes all = test_bytes(3000001);
  struct Case {
    std::uint64_t announced, direct_from;
  };
  for (const auto& [announced, direct_from] :
       {Case{0, 0}, Case{0, 1}, Case{0, 1000000}, Case{all.size(), all.size()}, Case{10000000, 5000000}}) {
    CAPTURE(announced, direct_from);
    const auto sink = open_sink(find_output(name), {.direct_from = direct_from}, cancel);
    if (announced > 0) sink->expect(announced);
    sink->write(std::span(all).first(100));
    write_pieces(*sink, std::span(all).subspan(100), 100000, Place::as_in_file, 100);
    sink->close();
    struct stat status {};
    REQUIRE(stat(name.c_str(), &status) == 0);
    CHECK(status.st_blocks * 512 <= 3000001 + 65536);
    CHECK_FALSE(is_cached(name, 2000000, 500000));
    CHECK(difference(read_file(name), all) == "");
  }
}

TEST_CASE("a small output file and a sparse one are not written directly", "[optional]") {
  const TempDir directory;
  if (!can_write_directly(directory)) return skip(no_direct_writes);
  Cancel cancel;
  const std::string name = directory / "out";
  const Bytes all = test_bytes(1000000);
  for (const SinkRules& rules :
       {SinkRules{.direct_from = 1000001}, SinkRules{.sparse = true, .direct_from = 0}}) {
    const auto sink = open_sink(find_output(name), rules, cancel);
    sink->write(all);
    sink->close();
    CHECK(is_cached(name, 0, 1000000));
  }
}

// Shared outputs ----------------------------------------------------------------------------------

TEST_CASE("shares are written directly if the file is large", "[optional]") {
  const TempDir directory;
  if (!can_write_directly(directory)) return skip(no_direct_writes);
  Cancel cancel;
  const std::string name = directory / "out";
  constexpr std::uint64_t unit = 1 << 20;
  const Bytes all = test_bytes(5 * unit + 1234);
  for (const std::uint64_t direct_from : {all.size(), all.size() + 1}) {
    std::filesystem::remove(name);
    for (const std::uint32_t share : {2, 0, 1}) {
      const auto output = SharedOutput::make(name, direct_from, cancel, {});
      const std::uint64_t offset = share * 2 * unit, bytes = std::min(2 * unit, all.size() - offset);
      output->open(
          {.id = "id", .share = share, .of = 3, .offset = offset, .bytes = bytes, .file_bytes = all.size()});
      CHECK(output->place_in_page() ==
            (direct_from > all.size() ? std::nullopt : std::optional(std::size_t{0})));
      write_pieces(*output, std::span(all).subspan(offset, bytes), 600001, Place::as_in_file);
      output->close();
    }
    CHECK(is_cached(name, 0, unit) == (direct_from > all.size()));
    CHECK(difference(read_file(name), all) == "");
  }
}

TEST_CASE("the end of a share is not written into a file that another process has completed", "[optional]") {
  const TempDir directory;
  if (!can_write_directly(directory)) return skip(no_direct_writes);
  Cancel cancel;
  const std::string name = directory / "out";
  const auto output = SharedOutput::make(name, 0, cancel, {});
  output->open({.id = "id", .share = 0, .of = 1, .offset = 0, .bytes = 1000, .file_bytes = 1000});
  output->write(test_bytes(1000));  // held back
  std::filesystem::rename(directory / "out.id-1/data", name);
  CHECK(contains(failure_of([&] { output->finish(); }), "was completed or replaced by another process"));
  CHECK(difference(read_file(name), Bytes(1000)) == "");
}

}  // namespace gpuaes
