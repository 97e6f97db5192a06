// Runs the AES kernels of CUDA lanes, and the T-table kernel, on the host (tests/cuda/host/), with their
// warps, shuffles and shared memory, and compares with the reference.
#include "bench/aes_ttable_kernel.cuh"
#include "kernels/aes_bitslice_kernel.cuh"
#include "kernels/gcm_tag_kernel.cuh"

#include <vector>

#include "cuda/host_kernels.hpp"
#include "keys/secret.hpp"
#include "support/aes_reference.hpp"
#include "support/catch.hpp"
#include "support/reference_aeads.hpp"

namespace gpuaes::cuda {

// Dynamic shared memory on a device.
uint4 bitslice_memory[memory_bytes(bitslice_threads) / sizeof(uint4)];
uint4 tables[table_bytes / sizeof(uint4)];
uint4 tag_memory[warp_sums_bytes / sizeof(uint4)];

namespace {

template <class Plan>
void run_bitslice_kernel(const aes::RoundKeys& keys, unsigned blocks, unsigned threads, const Plan& plan) {
  run_on_host(blocks, threads, [&] { bitslice_kernel(keys.words.data(), keys.rounds, plan); });
  CHECK(is_zero(bitslice_memory));
}

void run_ttable_kernel(const aes::RoundKeys& keys, unsigned blocks, unsigned threads,
                       const CtrTiles<ttable_tile>& tiles) {
  const std::uint32_t* const words = keys.words.data();
  run_on_host(blocks, threads, [&] {
    if (keys.rounds == 10) return ttable_kernel<10>(words, tiles);
    if (keys.rounds == 12) return ttable_kernel<12>(words, tiles);
    return ttable_kernel<14>(words, tiles);
  });
}

// `run` is one of the functions above.
template <unsigned tile_size>
void check_ctr(void (*run)(const aes::RoundKeys&, unsigned, unsigned, const CtrTiles<tile_size>&)) {
  struct Case {
    std::size_t key_bytes;
    Counter counter;
    std::uint64_t blocks;
    unsigned cuda_blocks, threads;
  };
  // One warp, several, several CUDA blocks; one tile and more tiles than warps; counters that carry.
  const std::vector<Case> cases{{16, {5, 0}, 1, 1, 32},
                                {24, {7, 250}, 300, 1, 64},
                                {32, {~0ull, ~0ull - 300}, 1500, 2, 64},
                                {16, {1, ~0ull - 700}, 1000, 3, 32},
                                {32, {7, 0xffffff01}, 257, 1, 96}};
  for (const Case& each : cases) {
    CAPTURE(each.key_bytes, each.blocks);
    const aes::RoundKeys keys = aes::expand_key(test_bytes(each.key_bytes));
    const Bytes plain = test_bytes(16 * each.blocks);
    Buffer in(plain), out(plain.size());
    run(keys, each.cuda_blocks, each.threads,
        CtrTiles<tile_size>{each.counter, each.blocks, in.words(), out.words()});
    CHECK(out.bytes() == reference_ctr(keys, each.counter, plain));
    CHECK(out.is_whole());
  }
}

constexpr Nonce nonce{{0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0xf0, 0xe1, 0xd2, 0xc3}, 12};
constexpr std::uint64_t first_segment = 0xfffffffe;

Segments segments_of(std::size_t full, std::size_t last) {
  return {{first_segment, full + 1, full * sealed_segment_bytes + last + tag_bytes},
          {0xfedcba98, 0x76543210, 0xf0e1d2c3}};
}

}  // namespace

TEST_CASE("on the host, the AES kernel matches the reference in CTR mode for all key sizes and counters") {
  check_ctr(run_bitslice_kernel<CtrTiles<aes::tile_blocks>>);
}

TEST_CASE("on the host, the T-table kernel matches the reference for all key sizes and counters") {
  check_ctr(run_ttable_kernel);
}

TEST_CASE("on the host, the AES kernels seal and open segments and report the first bad one") {
  struct Case {
    std::size_t key_bytes, full, last, aad;
    unsigned cuda_blocks;
  };
  const std::vector<Case> cases{
      {16, 0, 0, 0, 1}, {32, 0, 16 * 1022 + 5, 20, 1}, {32, 2, 17, 0, 2}, {24, 1, 16384, 33, 1}};
  for (const Case& each : cases) {
    CAPTURE(each.key_bytes, each.full, each.last, each.aad);
    const Bytes key = test_bytes(each.key_bytes), aad = test_bytes(each.aad);
    const aes::RoundKeys keys = aes::expand_key(key);
    const Gcm gcm(key);
    ghash::Powers powers;
    ghash::make_powers(hash_key(keys), powers);
    const Bytes plain = test_bytes(each.full * segment_bytes + each.last);
    const Bytes expected = seal_all(plain, segment_bytes, [&](std::size_t i, bool, auto... spans) {
      gcm.seal(first_counter(segment_nonce(nonce, first_segment + i)), aad, spans...);
    });
    const Segments segments = segments_of(each.full, each.last);
    const PublicData hashed = public_data(aad);
    Buffer in(plain), sealed(expected.size()), masks(16 * segments.count), opened(plain.size());
    const auto tag = [&](std::uint32_t* first_bad) {
      run_on_host(each.cuda_blocks, tag_threads, [&] {
        tag_kernel(&powers, hashed, segments, sealed.data(), reinterpret_cast<const uint4*>(masks.data()),
                   first_bad);
      });
      CHECK(is_zero(tag_memory));
    };
    const auto crypt = [&](Buffer& from, std::size_t in_stride, Buffer& to, std::size_t out_stride) {
      run_bitslice_kernel(keys, each.cuda_blocks, 64,
                          SegmentTiles<aes::tile_blocks>{segments, from.data(), to.data(), in_stride,
                                                         out_stride, masks.words()});
    };
    crypt(in, segment_bytes, sealed, sealed_segment_bytes);
    tag(nullptr);
    CHECK(sealed.bytes() == expected);
    CHECK(sealed.is_whole());
    CHECK(masks.is_whole());

    std::uint32_t first_bad = none_bad;
    crypt(sealed, sealed_segment_bytes, opened, segment_bytes);
    tag(&first_bad);
    CHECK(first_bad == none_bad);
    CHECK(opened.bytes() == plain);
    for (std::size_t i = 0; plain.empty() && i < tag_bytes; ++i) {  // every byte of a tag is compared
      sealed.data()[i] ^= std::byte{1};
      first_bad = none_bad;
      tag(&first_bad);
      CHECK(first_bad == 0);
      sealed.data()[i] ^= std::byte{1};
    }
    for (std::size_t bad = segments.count; bad-- > 0;) {
      sealed.data()[bad * sealed_segment_bytes + each.last / 2] ^= std::byte{1};
      tag(&first_bad);
      CHECK(first_bad == bad);
    }
  }
}

}  // namespace gpuaes::cuda
