// CPU and reference lanes with ChaCha20-Poly1305, compared with each other.
#include <array>

#include "cipher/modes/segments.hpp"
#include "lane/backends.hpp"
#include "support/bytes.hpp"
#include "support/catch.hpp"
#include "support/keys.hpp"
#include "support/reference_lane.hpp"

namespace gpuaes {
namespace {

constexpr std::array make_lanes{make_reference_lane, make_cpu_lane};
// A job that seals or opens; the caller sets what it reads and writes.
Job job_of(Operation operation, const CipherKey& key, const Bytes& in, Bytes& out, const Nonce& nonce) {
  return {
      .operation = operation, .key = &key, .in = in, .out = out, .rules = age_segments, .base_nonce = nonce};
}

std::optional<std::size_t> run(Lane& lane, const Job& job) {
  lane.start(job);
  return lane.finish();
}

}  // namespace

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
