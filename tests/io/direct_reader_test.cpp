// Direct reads, and queries of the page cache.
#include "io/direct_reader.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "io/fd_source_sink.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/io_support.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t block = DirectReader::block_bytes;

std::unique_ptr<DirectReader> open_direct(const std::string& name, std::uint64_t size) {
  return DirectReader::open(Fd(open(name.c_str(), O_RDONLY | O_CLOEXEC)), size);
}

// Removes a file from the page cache. Returns whether that worked, and sources read the file directly: not on
// overlayfs, for example.
bool uncache(const std::string& name) {
  const Fd fd(open(name.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (fstat(fd.get(), &status) != 0 || major(status.st_dev) == 0) return false;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (fdatasync(fd.get()) != 0 || posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) return false;
  const auto reader = DirectReader::open(fd, size);
  return reader && !reader->is_cached(0, size);
}

// Writes a file that is not in the page cache. Returns whether that was possible.
bool write_uncached(const std::string& name, std::span<const std::byte> bytes) {
  write_file(name, bytes);
  return uncache(name);
}

constexpr char why_skipped[] =
    "the folder for tests does not allow direct reads, or eviction from the page cache";

// Memory that begins at a given place in a block, between bytes that must not change.
class Room {
 public:
  Room(std::size_t size, std::size_t place) : memory_(size + 3 * block, std::byte{0xa5}) {
    const std::size_t begin = reinterpret_cast<std::uintptr_t>(memory_.data()) % block;
    bytes_ = std::span(memory_).subspan((block - begin) % block + place % block, size);
  }
  std::span<std::byte> bytes() const { return bytes_; }
  bool is_unchanged_around(std::size_t size) const {
    const std::byte* const begin = bytes_.data();
    for (const std::byte& byte : memory_)
      if ((&byte < begin || &byte >= begin + size) && byte != std::byte{0xa5}) return false;
    return true;
  }

 private:
  Bytes memory_;
  std::span<std::byte> bytes_;
};

}  // namespace

TEST_CASE("a direct read returns exactly the requested bytes, wherever they begin and end", "[optional]") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "file";
  const std::size_t size = 100001;
  if (!write_uncached(name, test_bytes(size))) return skip(why_skipped);
  const auto reader = open_direct(name, size);
  for (const std::size_t offset : {0, 1, 511, 512, 513, 4095, 4096, 4097, 16383, 16384, 16400, 49999})
    for (const std::size_t wanted : {8192, 8193, 8704, 12287, 12288, 12289, 16400, 20481, 49999}) {
      CAPTURE(offset, wanted);
      const Room room(wanted, offset);
      const std::size_t there = std::min(wanted, size - offset);
      REQUIRE(reader->read(offset, room.bytes(), cancel) == there);
      CHECK(difference(room.bytes().first(there), test_bytes(there, offset)) == "");
      CHECK(room.is_unchanged_around(wanted));
    }
  CHECK_FALSE(reader->is_cached(0, size));
}

TEST_CASE("a range that is cached or small, or whose memory is at the wrong place, is not read directly",
          "[optional]") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "file";
  const std::size_t size = 1 << 20;
  if (!write_uncached(name, test_bytes(size))) return skip(why_skipped);
  const auto reader = open_direct(name, size);
  CHECK(reader->read(0, Room(20000, 1).bytes(), cancel) == 0);
  CHECK(reader->read(100, Room(20000, 101).bytes(), cancel) == 0);
  CHECK(reader->read(0, Room(block, 0).bytes(), cancel) == 0);
  CHECK(reader->read(0, Room(0, 0).bytes(), cancel) == 0);
  CHECK_FALSE(reader->is_cached(0, 1));

  CHECK(difference(read_file(name), test_bytes(size)) == "");  // now it is in the page cache
  CHECK(reader->is_cached(0, size));
  CHECK(reader->read(0, Room(20000, 0).bytes(), cancel) == 0);
}

TEST_CASE("a file that does not support direct reads has no direct reader") {
  CHECK(open_direct("/proc/self/status", 1000) == nullptr);
  CHECK(open_direct("/dev/null", 1000) == nullptr);
  const TempDir directory;
  write_file(directory / "empty", {});
  CHECK(open_direct(directory / "empty", 0) == nullptr);
}

TEST_CASE("a limit on the address space leaves no room for a direct reader") {
  const TempDir directory;
  write_file(directory / "file", test_bytes(100000));
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  const rlimit limited{std::min(before.rlim_max, rlim_t{1} << 50), before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &limited) == 0);
  const auto reader = open_direct(directory / "file", 100000);
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  CHECK(reader == nullptr);
}

TEST_CASE("a range counts as cached only if its end is, too", "[optional]") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "file";
  const std::size_t size = 256 << 10;
  if (!write_uncached(name, test_bytes(size))) return skip(why_skipped);
  const Fd fd = open_file(name, O_RDONLY, cancel);
  REQUIRE(posix_fadvise(fd.get(), 0, 0, POSIX_FADV_RANDOM) == 0);  // without readahead
  std::byte first;
  REQUIRE(pread(fd.get(), &first, 1, 0) == 1);
  const auto reader = open_direct(name, size);
  CHECK(reader->is_cached(0, 1));
  CHECK_FALSE(reader->is_cached(0, size));
}

TEST_CASE("a direct read ends if the program is told to stop", "[optional]") {
  const TempDir directory;
  const std::string name = directory / "file";
  if (!write_uncached(name, test_bytes(100000))) return skip(why_skipped);
  const auto reader = open_direct(name, 100000);
  Cancel cancel;
  cancel.request(0);
  const Room room(20000, 0);
  CHECK(failure_of([&] { reader->read(0, room.bytes(), cancel); }) == "cancelled: 0");
}

// Sources -----------------------------------------------------------------------------------------

TEST_CASE("a source reads a file directly if the memory is at the right place in a page", "[optional]") {
  Cancel cancel;
  const TempDir directory;
  const std::string name = directory / "file";
  const std::size_t size = 1000001;
  if (!write_uncached(name, test_bytes(size))) return skip(why_skipped);
  for (const std::size_t begin : {0, 100, 4096}) {
    FdSource source = file_source(name, cancel, static_cast<off_t>(begin));
    REQUIRE(source.prepare_parallel());
    for (const std::size_t offset : {0, 1, 500000}) {
      CAPTURE(begin, offset);
      const std::size_t rest = size - begin - offset;
      CHECK(source.place_in_page(offset) == (begin + offset) % block);
      const Room room(rest, source.place_in_page(offset));
      source.read_at(offset, room.bytes());
      CHECK(difference(room.bytes(), test_bytes(rest, begin + offset)) == "");
    }
  }
  CHECK_FALSE(open_direct(name, size)->is_cached(0, size));
  FdSource source = file_source(name, cancel);
  CHECK(source.prepare_parallel());
  CHECK(difference(read_part(source, 12345, 50000), test_bytes(50000, 12345)) == "");  // at any place
}

TEST_CASE("a file that is cached or small is not read directly") {
  Cancel cancel;
  const TempDir directory;
  write_file(directory / "file", test_bytes(1000000));
  FdSource cached = file_source(directory / "file", cancel);
  CHECK_FALSE(cached.prepare_parallel());
  CHECK(difference(read_part(cached, 0, 1000000), test_bytes(1000000)) == "");
  write_file(directory / "small", test_bytes(100000));
  uncache(directory / "small");
  FdSource small = file_source(directory / "small", cancel);
  CHECK_FALSE(small.prepare_parallel());
  CHECK(small.place_in_page(1) == 0);
}

}  // namespace gpuaes
