// CPU and reference lanes with ChaCha20-Poly1305, compared with Wycheproof's vectors and with each other.
#include <array>
#include <sstream>
#include <string>
#include <string_view>

#include "cipher/modes/segments.hpp"
#include "lane/backends.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/keys.hpp"

namespace gpuaes {
namespace {

constexpr std::array make_lanes{make_reference_lane, make_cpu_lane};
constexpr SegmentRules age_rules{.plain_bytes = 64 << 10, .last_flag = 11};

Nonce nonce_of(const Bytes& bytes) {
  Nonce nonce{{}, bytes.size()};
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(nonce.bytes)).begin());
  return nonce;
}

// A job that seals or opens; the caller sets what it reads and writes.
Job job_of(Operation operation, const CipherKey& key, const Bytes& in, Bytes& out, const Nonce& nonce) {
  return {.operation = operation, .key = &key, .in = in, .out = out, .rules = age_rules, .base_nonce = nonce};
}

std::optional<std::size_t> run(Lane& lane, const Job& job) {
  lane.start(job);
  return lane.finish();
}

// One line of the vectors.
struct Vector {
  std::string number, result;
  Bytes key, nonce, aad, plain, sealed;
};

Vector parse(std::string_view line) {
  std::istringstream words{std::string(line)};
  Vector vector;
  words >> vector.number >> vector.result;
  const auto next = [&] {
    std::string digits;
    REQUIRE(words >> digits);
    return digits == "-" ? Bytes() : from_hex(digits);
  };
  for (Bytes* field : {&vector.key, &vector.nonce, &vector.aad, &vector.plain, &vector.sealed})
    *field = next();
  const Bytes tag = next();
  vector.sealed.insert(vector.sealed.end(), tag.begin(), tag.end());
  return vector;
}

constexpr std::string_view wycheproof[] = {
#include "vectors/wycheproof_chacha20_poly1305.inc"
};

}  // namespace

TEST_CASE("every lane passes Wycheproof's vectors for ChaCha20-Poly1305") {
  STATIC_REQUIRE(std::size(wycheproof) == 316);
  for (const auto make_lane : make_lanes)
    for (const std::string_view line : wycheproof) {
      const Vector vector = parse(line);
      const auto lane = make_lane();
      CAPTURE(lane->name(), vector.number);
      const CipherKey key = make_key(vector.key, Cipher::chacha20_poly1305);
      Bytes out(vector.plain.size());
      Job open = job_of(Operation::open, key, vector.sealed, out, nonce_of(vector.nonce));
      open.aad = vector.aad;
      open.rules = {};  // without a flag in the nonce
      CHECK(run(*lane, open).has_value() == (vector.result == "invalid"));
      if (vector.result == "invalid") continue;
      CHECK(out == vector.plain);
      Bytes sealed(vector.sealed.size());
      Job seal = job_of(Operation::seal, key, vector.plain, sealed, nonce_of(vector.nonce));
      seal.aad = vector.aad;
      seal.rules = {};
      run(*lane, seal);
      CHECK(sealed == vector.sealed);
    }
}

TEST_CASE("CPU and reference lanes seal the same segments of 64 KiB, whose last may be full") {
  const CipherKey key = make_key(test_bytes(32, 3), Cipher::chacha20_poly1305);
  const Nonce nonce{{}, 12};
  for (const std::size_t length : {0, 1, 15, 16, 17, 63, 64, 65, 65535, 65536, 65537, 131072, 131073, 200000})
    for (const bool ends : {false, true}) {
      CAPTURE(length, ends);
      const Bytes plain = test_bytes(length);
      const std::size_t segments = std::max<std::size_t>((length + 65535) / 65536, 1);
      std::array<Bytes, 2> sealed{Bytes(length + 16 * segments), Bytes(length + 16 * segments)};
      for (std::size_t i = 0; i < 2; ++i) {
        Job job = job_of(Operation::seal, key, plain, sealed[i], nonce);
        job.first_segment = 0xfffffffe;
        job.ends_message = ends;
        run(*make_lanes[i](), job);
      }
      CHECK(difference(sealed[0], sealed[1]) == "");
      for (const auto make_lane : make_lanes) {
        Bytes opened(length);
        Job job = job_of(Operation::open, key, sealed[0], opened, nonce);
        job.first_segment = 0xfffffffe;
        job.ends_message = ends;
        CHECK_FALSE(run(*make_lane(), job).has_value());
        CHECK(difference(opened, plain) == "");
        sealed[0].back() ^= std::byte{1};
        job.in = sealed[0];
        CHECK(run(*make_lane(), job) == std::optional<std::size_t>(segments - 1));
        sealed[0].back() ^= std::byte{1};
      }
    }
}

}  // namespace gpuaes
