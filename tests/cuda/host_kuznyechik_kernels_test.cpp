// Runs the Kuznyechik kernels of CUDA lanes, and the LS table kernel, on the host (tests/cuda/host/), and
// compares with the reference.
#include "bench/kuznyechik_ls_table_kernel.cuh"
#include "kernels/kuznyechik_bitslice_kernel.cuh"
#include "kernels/mgm_kernel.cuh"

#include <algorithm>
#include <vector>

#include "cuda/host_kernels.hpp"
#include "keys/secret.hpp"
#include "support/catch.hpp"
#include "support/reference_aeads.hpp"

namespace gpuaes::cuda {

// Dynamic shared memory on a device.
uint4 kuznyechik_slices[kuznyechik_bitslice_memory(kuznyechik_bitslice_threads) / sizeof(uint4)];
uint4 kuznyechik_memory[kuznyechik_table_bytes / sizeof(uint4)];
uint4 product_memory[product_bytes / sizeof(uint4)];

namespace {

// Round keys as words, as on a device.
struct Keys {
  explicit Keys(const Bytes& key) : expanded(kuznyechik::expand_key(key)) {
    std::ranges::copy(std::as_bytes(std::span(expanded.of)),
                      std::as_writable_bytes(std::span(words)).begin());
  }
  kuznyechik::RoundKeys expanded;
  std::uint32_t words[40];
};

struct Grid {
  unsigned blocks, threads;
};

template <class CounterBlocks>
void run_cipher(const Keys& keys, const Grid& grid, const CounterBlocks& counter_blocks) {
  run_on_host(grid.blocks, grid.threads, [&] { kuznyechik_bitslice_kernel(keys.words, counter_blocks); });
  CHECK(is_zero(kuznyechik_slices));
}

void run_table_kernel(const Keys& keys, const Grid& grid, const CtrBlocks& counter_blocks) {
  run_on_host(grid.blocks, grid.threads, [&] { kuznyechik_table_kernel(keys.words, counter_blocks); });
}

constexpr Nonce base_nonce{
    {0x7e, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0xf0, 0xe1, 0xd2, 0xc3, 0xb4, 0xa5, 0x96, 0x87}, 16};
constexpr std::uint64_t first_segment = 0xfffffffe;

// A lane's job, with all its launches (cuda/kernels/kuznyechik.cu).
struct MgmOnHost {
  const Keys& keys;
  Grid grid;
  PublicData aad;
  MgmSegments segments;
  Buffer starts{32 * segments.count}, sums{16 * segments.count},
      factors{16 * segments.count * segments.max_factors()};

  void crypt(Buffer& in, unsigned in_stride, Buffer& out, unsigned out_stride) {
    run_cipher(keys, grid, MgmStarts{segments, blocks(starts)});
    run_cipher(
        keys, grid,
        MgmBody(segments, blocks(starts), {in.data(), out.data(), in_stride, out_stride}, blocks(factors)));
  }
  void tag(Buffer& sealed, std::uint32_t* first_bad) {
    run_on_host(grid.blocks, product_threads,
                [&] { mgm_product_kernel(aad, segments, sealed.data(), blocks(factors), blocks(sums)); });
    CHECK(is_zero(product_memory));
    run_cipher(keys, grid, MgmSums{segments.count, blocks(sums)});
    run_on_host(grid.blocks, 64, [&] {
      mgm_tag_kernel(segments, sealed.data(), reinterpret_cast<const uint4*>(sums.data()), first_bad);
    });
    CHECK((starts.is_whole() && sums.is_whole() && factors.is_whole()));
  }
  static BlockWords* blocks(Buffer& buffer) { return reinterpret_cast<BlockWords*>(buffer.data()); }
};

// `run` is one of the functions above.
void check_ctr(void (*run)(const Keys&, const Grid&, const CtrBlocks&)) {
  struct Case {
    Counter counter;
    std::uint64_t blocks;
    Grid grid;
  };
  const std::vector<Case> cases{{{5, 0}, 1, {1, 32}},
                                {{7, 250}, 33, {1, 64}},
                                {{~0ull, ~0ull - 300}, 1500, {2, 64}},
                                {{1, ~0ull - 700}, 2100, {1, 32}},
                                {{7, 0xffffff01}, 1025, {1, 96}}};
  const Keys keys(test_bytes(32));
  const auto encrypt = [&](const CounterBlock& block) { return kuznyechik::encrypt(keys.expanded, block); };
  for (const Case& each : cases) {
    CAPTURE(each.blocks);
    const Bytes plain = test_bytes(16 * each.blocks);
    Buffer in(plain), out(plain.size());
    run(keys, each.grid, CtrBlocks{each.counter, each.blocks, MgmOnHost::blocks(in), MgmOnHost::blocks(out)});
    CHECK(out.bytes() == reference_ctr(encrypt, each.counter, plain));
    CHECK(out.is_whole());
  }
}

}  // namespace

TEST_CASE(
    "on the host, the Kuznyechik kernel matches the reference in CTR mode for all lengths and counters") {
  check_ctr(run_cipher<CtrBlocks>);
}

TEST_CASE("on the host, the LS table kernel matches the reference for all lengths and counters") {
  check_ctr(run_table_kernel);
}

TEST_CASE("on the host, the Kuznyechik kernels seal and open segments and report the first bad one") {
  struct Case {
    std::size_t full, last, aad;
    Grid grid;
  };
  const std::vector<Case> cases{{0, 0, 16, {1, 32}},   {0, 16 * 1022 + 5, 20, {1, 64}},
                                {2, 17, 0, {2, 32}},   {0, 5, 1008, {1, 32}},
                                {0, 5, 1024, {1, 32}}, {1, 16384, 33, {1, 96}}};
  const Bytes key = test_bytes(32);
  const Keys keys(key);
  const mgm::Mgm mgm(key);
  for (const Case& each : cases) {
    CAPTURE(each.full, each.last, each.aad);
    const Bytes aad = test_bytes(each.aad);
    const Bytes plain = test_bytes(each.full * segment_bytes + each.last);
    const Bytes expected = seal_all(plain, segment_bytes, [&](std::size_t i, bool, auto... spans) {
      mgm.seal(segment_nonce(base_nonce, first_segment + i), aad, spans...);
    });
    MgmOnHost job{keys,
                  each.grid,
                  public_data(aad),
                  {{first_segment, each.full + 1, expected.size()},
                   load_counter(base_nonce.bytes),
                   static_cast<unsigned>(aad.size() + 15) / 16}};
    Buffer in(plain), sealed(expected.size()), opened(plain.size());
    job.crypt(in, segment_bytes, sealed, sealed_segment_bytes);
    job.tag(sealed, nullptr);
    CHECK(sealed.bytes() == expected);
    CHECK(sealed.is_whole());

    std::uint32_t first_bad = none_bad;
    job.crypt(sealed, sealed_segment_bytes, opened, segment_bytes);
    job.tag(sealed, &first_bad);
    CHECK(first_bad == none_bad);
    CHECK(opened.bytes() == plain);
    CHECK(opened.is_whole());
    for (std::size_t bad = each.full + 1; bad-- > 0;) {
      sealed.data()[bad * sealed_segment_bytes + each.last / 2] ^= std::byte{1};
      job.tag(sealed, &first_bad);
      CHECK(first_bad == bad);
    }
  }
}

}  // namespace gpuaes::cuda
