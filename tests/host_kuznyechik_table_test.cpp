// The kernel that looks up LS tables, whole, on the host (host_cuda/), against the standard.
#include "kuznyechik_table_kernel.cuh"

#include <algorithm>
#include <cstring>
#include <vector>

#include "catch.hpp"

namespace gpuaes::cuda {

// What is dynamic shared memory on a device.
uint4 kuznyechik_memory[kuznyechik_table_bytes / sizeof(uint4)];

namespace {

using kuznyechik::Block;

Block to_bytes(const BlockWords& words) {
  Block block;
  std::memcpy(block.data(), words.words, block.size());
  return block;
}

BlockWords words_of(std::uint32_t number) {
  return {{number, ~number, 0x9e3779b9 * number, 7}};
}

}  // namespace

TEST_CASE("kernels on the host: Kuznyechik by LS tables, of every number of blocks and counter") {
  struct Case {
    Counter counter;
    std::uint64_t blocks;
    unsigned cuda_blocks, threads;
  };
  // One warp, several, several CUDA blocks; one place and more than there are threads; counters that carry.
  const std::vector<Case> cases{{{5, 0}, 1, 1, 32},
                                {{7, 250}, 33, 1, 32},
                                {{~0ull, ~0ull - 300}, 1000, 2, 64},
                                {{1, ~0ull - 10}, 129, 1, 128},
                                {{7, 0xffffff01}, 700, 3, 96}};
  std::vector<std::byte> key(kuznyechik::key_bytes);
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(29 * i + 3);
  const kuznyechik::RoundKeys keys = kuznyechik::expand_key(key);
  std::uint32_t words[sizeof keys / sizeof(std::uint32_t)];
  std::memcpy(words, &keys, sizeof keys);
  for (const Case& each : cases) {
    CAPTURE(each.blocks, each.cuda_blocks, each.threads);
    const BlockWords untouched = words_of(12345);
    std::vector<BlockWords> in, out(each.blocks + 2, untouched);
    for (std::uint32_t i = 0; i < each.blocks; ++i) in.push_back(words_of(i));
    run_on_host(each.cuda_blocks, each.threads, [&] {
      kuznyechik_table_kernel(words, StretchPlaces{each.counter, each.blocks, in.data(), out.data() + 1});
    });
    std::uint64_t right = 0;
    for (std::uint64_t i = 0; i < each.blocks; ++i) {
      const Block keystream = kuznyechik::encrypt(keys, store_counter(each.counter + i));
      right += to_bytes(out[i + 1]) == kuznyechik::add(to_bytes(in[i]), keystream);
    }
    CHECK(right == each.blocks);
    CHECK(to_bytes(out.front()) == to_bytes(untouched));
    CHECK(to_bytes(out.back()) == to_bytes(untouched));
  }
}

}  // namespace gpuaes::cuda
