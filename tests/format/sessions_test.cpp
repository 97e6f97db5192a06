// The sessions of segments: offsets in the stream, and limits. tests/cli/ checks what the formats read and
// write against a second implementation.
#include "format/sessions.hpp"

#include <cstdint>
#include <string>

#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/keys.hpp"

namespace gpuaes {

TEST_CASE("a session uses offsets in the whole stream") {
  const auto session = make_segment_session({.decrypt = true,
                                             .key = make_key(test_bytes(32)),
                                             .base_nonce = {{}, 12},
                                             .place = {.input_bytes = 175}});
  CHECK(session->output_size(0, true) == 0);
  CHECK(session->output_size(15, true) == 0);
  CHECK(session->output_size(16, true) == 0);
  CHECK(session->output_size(17, true) == 1);
  CHECK(session->output_size(16400, false) == 16384);
  CHECK(session->output_size(16400 + 15, true) == 16384);
  CHECK(session->output_size(16400 + 16, true) == 16384);
  const Bytes in(3 * 16400 + 100);
  Bytes out(3 * 16384 + 84);
  const Piece piece{std::uint64_t{16400} << 30, in, out, true};
  CHECK(session->job(piece).first_segment == std::uint64_t{1} << 30);
  CHECK(session->verify(piece, {}).released == out.size());
  CHECK_FALSE(session->verify(piece, {}).error.has_value());
  const Outcome bad = session->verify(piece, 2);
  CHECK(bad.released == 2 * 16384);
  REQUIRE(bad.error.has_value());
  CHECK(std::string(bad.error->what()) ==
        "the input is corrupt at byte 17609365946575; 17592186077184 bytes of plaintext before that were "
        "verified");
  CHECK(contains(session->verify(piece, 3).error->what(),
                 "the input is corrupt or truncated at byte 17609365962975; "));
  CHECK(session->verify(piece, 3).released == 3 * 16384);
  // A truncated piece may also have a bad segment.
  const Piece cut{0, std::span(in).first(16400 + 3), std::span(out).first(16384), true};
  CHECK(session->job(cut).in.size() == 16400);
  CHECK(contains(session->verify(cut, 0).error->what(), "corrupt at byte 175; 0 "));
  CHECK(contains(session->verify(cut, {}).error->what(), "truncated after byte 16578; 16384 "));
}

TEST_CASE("a stream has at most 2^38 segments with AES, and 2^36 with Kuznyechik") {
  Bytes plain(16384), sealed(16400);
  for (const Cipher cipher : {Cipher::aes_256, Cipher::kuznyechik}) {
    const std::string log2 = cipher == Cipher::aes_256 ? "38" : "36";
    const std::uint64_t end = std::uint64_t{1} << std::stoi(log2);
    const std::string error =
        "io: the input is too long; the format allows at most 2^" + log2 + " segments of 16384 bytes";
    const auto seal = make_segment_session({.key = make_key(test_bytes(32), cipher)});
    const auto open = make_segment_session({.decrypt = true, .key = make_key(test_bytes(32), cipher)});
    CHECK(seal->output_size(0, true) == 16);
    CHECK(seal->output_size(0, false) == 0);
    CHECK(seal->output_size(16384, false) == 16400);
    CHECK(seal->output_size(16384, true) == 16416);
    CHECK(seal->job({(end - 1) * 16384, plain, sealed}).first_segment == end - 1);
    CHECK(open->job({(end - 1) * 16400, sealed, plain}).first_segment == end - 1);
    CHECK(failure_of([&] { seal->job({end * 16384, {}, std::span(sealed).first(16)}); }) == error);
    CHECK(failure_of([&] { open->job({end * 16400, sealed, plain}); }) == error);
  }
}

}  // namespace gpuaes
