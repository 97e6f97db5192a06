// Runs the ChaCha20-Poly1305 kernel of CUDA lanes on the host (tests/cuda/host/) and compares with the
// reference.
#include "kernels/chacha20_kernel.cuh"

#include <algorithm>
#include <vector>

#include "cuda/host_kernels.hpp"
#include "keys/secret.hpp"
#include "support/catch.hpp"
#include "support/reference_aeads.hpp"

namespace gpuaes::cuda {

// Dynamic shared memory on a device.
uint4 chacha20_memory[(2 * sizeof(ChaCha20Memory) + sizeof(uint4) - 1) / sizeof(uint4)];

namespace {

constexpr std::size_t segment = age_segments.plain_bytes, sealed_segment = age_segments.sealed_bytes();
constexpr Nonce nonce{{0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0xf0, 0xe1, 0xd2}, 12};
constexpr std::uint64_t first_segment = 0xfffffffe;

// Segments of a message, and how the kernel is launched.
struct Case {
  std::size_t full, last, aad;  // segments before the last, and bytes
  bool ends_message;
  unsigned part_bits, cuda_blocks;
};

ChaCha20Segments segments_of(const Case& each) {
  ChaCha20Segments segments{
      {first_segment, each.full + 1, each.full * sealed_segment + each.last + tag_bytes},
      {},
      each.ends_message};
  std::memcpy(segments.base, nonce.bytes.data(), sizeof segments.base);
  return segments;
}

class Kernel {
 public:
  Kernel(const Case& each, const Bytes& key, const Bytes& aad)
      : each_(each), segments_(segments_of(each)), aad_(public_data(aad)), sums_(each.full + 1) {
    std::memcpy(key_, key.data(), sizeof key_);
  }

  template <bool opens>
  void run(Buffer& in, Buffer& out, std::uint32_t* first_bad) {
    const ChaCha20Data data{in.data(), out.data(), opens ? sealed_segment : segment,
                            opens ? segment : sealed_segment};
    run_on_host(each_.cuda_blocks, chacha20_threads, [&] {
      chacha20_poly1305_kernel<opens>(key_, aad_, segments_, data, each_.part_bits, sums_.data(), first_bad);
    });
    CHECK(is_zero(chacha20_memory));
    for (const SegmentSums& sums : sums_)
      CHECK(std::ranges::all_of(std::as_bytes(std::span(&sums, 1)),
                                [](std::byte b) { return b == std::byte{}; }));
  }

 private:
  const Case each_;
  const ChaCha20Segments segments_;
  const PublicData aad_;
  std::vector<SegmentSums> sums_;
  std::uint32_t key_[chacha20::key_words];
};

}  // namespace

TEST_CASE("on the host, the ChaCha20 kernel seals and opens segments and reports the first bad one") {
  const std::vector<Case> cases{{0, 0, 0, true, 0, 1},        {0, 1, 5, true, 1, 1},
                                {0, 2047, 16, true, 0, 1},    {0, 8193, 0, true, 2, 3},
                                {0, 40001, 33, true, 1, 2},   {0, segment, 0, false, 0, 1},
                                {0, segment, 20, true, 3, 3}, {1, segment, 0, true, 0, 1},
                                {2, 17, 0, false, 0, 1},      {1, 5000, 0, true, 2, 2}};
  for (const Case& each : cases) {
    CAPTURE(each.full, each.last, each.aad, each.part_bits, each.cuda_blocks);
    const Bytes key = test_bytes(32), aad = test_bytes(each.aad);
    const Bytes plain = test_bytes(each.full * segment + each.last);
    const ChaCha20Poly1305 reference(key);
    const Bytes expected = seal_all(plain, segment, [&](std::size_t i, bool is_last, auto... spans) {
      const bool has_flag = is_last && (each.ends_message || each.last < segment);
      reference.seal(segment_nonce(nonce, first_segment + i, age_segments, has_flag), aad, spans...);
    });
    Kernel kernel(each, key, aad);
    Buffer in(plain), sealed(expected.size()), opened(plain.size());
    kernel.run<false>(in, sealed, nullptr);
    CHECK(sealed.bytes() == expected);
    CHECK(sealed.is_whole());

    std::uint32_t first_bad = none_bad;
    kernel.run<true>(sealed, opened, &first_bad);
    CHECK(first_bad == none_bad);
    CHECK(opened.bytes() == plain);
    CHECK(opened.is_whole());

    for (std::size_t bad = each.full + 1; bad-- > each.full / 2;) {  // the last one, then also one before it
      const std::size_t end = std::min((bad + 1) * sealed_segment, expected.size());
      sealed.data()[end - 1 - bad] ^= std::byte{0x40};
      first_bad = none_bad;
      kernel.run<true>(sealed, opened, &first_bad);
      CHECK(first_bad == bad);
    }
  }
}

}  // namespace gpuaes::cuda
