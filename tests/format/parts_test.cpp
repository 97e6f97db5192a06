// Files made of parts: the limits of frames, and how an input is cut into parts. tests/cli/parts
// compares what is written with an independent implementation.
#include "format/parts/frames.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "format/parts/session.hpp"
#include "io/cancel.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/memory_io.hpp"
#include "support/parts_file.hpp"

namespace gpuaes {

// Limits ------------------------------------------------------------------------------------------

TEST_CASE("a frame has one segment more than it has full segments of plaintext") {
  CHECK(sealed_size(0) == 16);
  CHECK(sealed_size(1) == 17);
  CHECK(sealed_size(16383) == 16399);
  CHECK(sealed_size(16384) == 16416);
  CHECK(sealed_size(16385) == 16417);
  const std::uint64_t max = max_part_bytes(Cipher::aes_256) - 1;
  CHECK(max == (std::uint64_t{1} << 52) - 1);
  CHECK(sealed_size(max) == max + 16 * (std::uint64_t{1} << 38));
  CHECK(max_part_bytes(Cipher::kuznyechik) == std::uint64_t{1} << 50);
}

TEST_CASE(
    "a part has the expected number, which is less than that of all parts, and a length in the limits") {
  const auto check = [](FrameHeader header, std::uint32_t number = 2) {
    return is_part(header, number, Cipher::aes_256);
  };
  CHECK(check({FrameKind::part, 2, 0, 0, {}}));
  CHECK(check({FrameKind::part, 2, 3, 0, {}}));
  CHECK(check({FrameKind::part, 2, max_parts, max_part_bytes(Cipher::aes_256) - 1, {}}));
  CHECK_FALSE(check({FrameKind::index, 2, 3, 0, {}}));
  CHECK_FALSE(check({FrameKind::part, 1, 3, 0, {}}));
  CHECK_FALSE(check({FrameKind::part, 3, 5, 0, {}}));
  CHECK_FALSE(check({FrameKind::part, 2, 2, 0, {}}));
  CHECK_FALSE(check({FrameKind::part, 2, max_parts + 1, 0, {}}));
  CHECK_FALSE(check({FrameKind::part, 2, 3, max_part_bytes(Cipher::aes_256), {}}));
  CHECK_FALSE(check({FrameKind::part, 2, 3, ~std::uint64_t{0}, {}}));
  CHECK_FALSE(
      is_part({FrameKind::part, 2, 3, max_part_bytes(Cipher::kuznyechik), {}}, 2, Cipher::kuznyechik));
}

// Cutting an input --------------------------------------------------------------------------------

namespace {

// The shares as gpuaes-stream(5), "Cutting a file", defines them: whole segments; the first parts get one
// more.
void check_cut(std::uint64_t size, std::uint32_t of) {
  CAPTURE(size, of);
  const std::uint64_t segments = (size + segment_bytes - 1) / segment_bytes;
  std::uint64_t at = 0;
  for (std::uint32_t i = 0; i < of; ++i) {
    const auto [offset, length] = cut(size, {i, of});
    REQUIRE(offset == at);
    const std::uint64_t wanted = (segments / of + (i < segments % of ? 1 : 0)) * segment_bytes;
    REQUIRE(length == std::min(wanted, size - at));
    at += length;
  }
  CHECK(at == size);
}

}  // namespace

TEST_CASE("an input is cut into whole segments, and the shares add up to it") {
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{16383}, std::uint64_t{16384}, std::uint64_t{16385},
        std::uint64_t{5 * 16384}, std::uint64_t{5 * 16384 + 1}, std::uint64_t{1000 * 16384 + 7},
        (std::uint64_t{1} << 50) + 12345, ~std::uint64_t{0} / 16384 * 16384})
    for (const std::uint32_t of : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 1000u, 1001u, 1002u}) check_cut(size, of);
  check_cut(0, max_parts);
  check_cut(std::uint64_t{1} << 40, max_parts);
}

// The index ---------------------------------------------------------------------------------------

TEST_CASE("a file of an index contains the index and nothing before it") {
  const PartsFile file = make_parts({100, 20000});
  const Bytes index(file.bytes.begin() + static_cast<std::ptrdiff_t>(file.index_at()), file.bytes.end());
  const TempDir folder;
  const std::string name = folder / "index";
  const auto read = [&](const Bytes& bytes) {
    write_file(name, bytes);
    Cancel cancel;
    return failure_of([&] { read_index_file(open_file_source(name, cancel), frame_secret()); });
  };
  CHECK(read(index) == "");
  for (const std::size_t count : {std::size_t{1}, frame_header_bytes, file.index_at()}) {
    CAPTURE(count);
    Bytes bytes = test_bytes(count);
    append(bytes, index);
    CHECK(read(bytes) == "auth: " + name + " is damaged, or belongs to another file");
  }
  CHECK(read(file.bytes) == "auth: " + name + " is damaged, or belongs to another file");
}

TEST_CASE("the index finds parts by offsets in the body and in the plaintext, whichever parts are empty") {
  std::vector<IndexEntry> entries;
  for (const std::uint64_t length : {0, 0, 20000, 0, 16384, 0, 0}) entries.push_back({.length = length});
  const PartsIndex index(entries);
  CHECK(index.count() == 7);
  CHECK(index.plaintext_bytes() == 36384);
  CHECK(index.body_bytes() == 5 * 16 + 20032 + 16416);
  std::uint64_t begin = 0, plaintext = 0;
  for (std::uint32_t i = 0; i < index.count(); ++i) {
    const PartPlace place = index.place(i);
    CHECK(place.number == i);
    CHECK(place.begin == begin);
    CHECK(place.plaintext == plaintext);
    begin += sealed_size(entries[i].length);
    plaintext += entries[i].length;
    CHECK(place.end == begin);
    CHECK(index.part_at(place.begin).number == i);
    CHECK(index.part_at(place.end - 1).number == i);
  }
  CHECK(index.part_at(begin).number == 6);
  CHECK(index.part_with(0).number == 2);
  CHECK(index.part_with(19999).number == 2);
  CHECK(index.part_with(20000).number == 4);
  CHECK(index.part_with(36383).number == 4);
  CHECK(index.part_with(36384).number == 6);
}

// The session -------------------------------------------------------------------------------------

TEST_CASE("an empty piece has the same key, whatever parts are opened and verified") {
  const PartsFile file = make_parts({5, 6, 7});
  const FrameHeader first = decode_frame(std::span(file.bytes).first<frame_header_bytes>()).value();
  const std::unique_ptr<Session> session = make_parts_session(frame_secret(), first, 0, false);
  Cancel cancel;
  Jitter jitter;
  const Bytes rest(file.bytes.begin() + frame_header_bytes, file.bytes.end());
  MemorySource input(rest, {}, cancel, jitter);
  const auto source = session->open_source({.source = input, .size = rest.size()});
  const auto key = [&] { return session->job({source->parallel_size(), {}, {}}).key; };
  const CipherKey* const before = key();
  for (std::uint32_t part = 0; part < 3; ++part) {
    const PartPlace place = source->index()->place(part);
    Bytes in(place.end - place.begin), out(file.lengths[part]);
    source->read_at(place.begin, in);
    CHECK(key() == before);
    CHECK(session->verify({place.begin, in, out, true}, {}).released == out.size());
    CHECK(key() == before);
  }
}

}  // namespace gpuaes
