// The division of jobs into tiles, for every kernel.
#include <algorithm>
#include <array>
#include <vector>

#include "cipher/modes/segments.hpp"
#include "cipher/modes/tiles.hpp"
#include "support/catch.hpp"
#include "support/counters.hpp"
#include "support/reference_aeads.hpp"

namespace gpuaes {
namespace {

constexpr Counter counters[] = {{0, 0},   {1, 1},         {7, 0xff},      {7, 0xffffff01},
                                {7, 200}, {7, all - 300}, {all, all - 5}, {all, all - 1023}};
constexpr std::uint64_t block_counts[] = {1, 2, 55, 56, 57, 127, 128, 129, 255, 256, 257, 300, 1024, 1025};
constexpr std::size_t last_segments[] = {0,
                                         1,
                                         16,
                                         17,
                                         16 * 253,
                                         16 * 254,
                                         16 * 254 + 1,
                                         16 * 1021,
                                         16 * 1022,
                                         16 * 1022 + 1,
                                         16 * 1023,
                                         16 * 1023 + 1,
                                         16384};
const Nonce nonce{{0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0xf0, 0xe1, 0xd2, 0xc3}, 12};

// How often a plan writes a block of the output, or a mask, and under which counter.
struct Done {
  unsigned times = 0;
  Counter counter{};
};

// Words that stand for input and output. Only their addresses are used.
struct Memory {
  explicit Memory(std::size_t blocks) : words(2 * 4 * blocks), done(blocks) {}
  const std::uint32_t* in() const { return words.data(); }
  std::uint32_t* out() { return words.data() + words.size() / 2; }

  void note(const std::uint32_t* from, const std::uint32_t* to, Counter counter) {
    const std::ptrdiff_t block = (to - out()) / 4;
    Done& entry = done.at(static_cast<std::size_t>(block));
    entry.times += from == nullptr || from - in() == to - out() ? 1 : 100;
    entry.counter = counter;
  }

  std::vector<std::uint32_t> words;
  std::vector<Done> done;
};

template <unsigned size, class Plan>
void walk(const Plan& plan, Memory& data, Memory& masks) {
  for (std::uint64_t number = 0; number < plan.aligned(); ++number) {
    const Tile tile = plan.tile(number);
    const bool fits = tile.first.low % size == 0 && tile.end <= size;
    for (unsigned i = tile.begin; fits && i < tile.end; ++i)
      data.note(tile.in + 4 * (tile.offset + i), tile.out + 4 * (tile.offset + i), tile.first + i);
    if (tile.mask != nullptr) masks.note(nullptr, tile.mask, tile.first + mask_block);
  }
  for (std::uint64_t number = 0; number < plan.gathered(); ++number)
    for (unsigned i = 0; i < size; ++i)
      if (const GatheredBlock block = plan.gathered_block(number, i); block.is_used)
        data.note(block.in, block.out, block.counter);
}

bool is_once(const Done& done, Counter counter) {
  return done.times == 1 && done.counter.high == counter.high && done.counter.low == counter.low;
}

template <unsigned size>
void check_ctr(Counter counter, std::uint64_t blocks) {
  CAPTURE(size, counter.high, counter.low, blocks);
  Memory data(blocks), masks(0);
  walk<size>(CtrTiles<size>{counter, blocks, data.in(), data.out()}, data, masks);
  unsigned wrong = 0;
  for (std::uint64_t i = 0; i < blocks; ++i) wrong += !is_once(data.done[i], counter + i);
  CHECK(wrong == 0);
}

Segments make_segments(std::uint64_t first, std::size_t full, std::size_t last) {
  return {{first, full + 1, full * sealed_segment_bytes + last + tag_bytes},
          {0xfedcba98, 0x76543210, 0xf0e1d2c3}};
}

template <unsigned size>
void check_segments(std::uint64_t first, std::size_t full, std::size_t last) {
  CAPTURE(size, first, full, last);
  const Segments segments = make_segments(first, full, last);
  Memory data((full + 1) * 1024), masks(full + 1);
  walk<size>(
      SegmentTiles<size>{segments, reinterpret_cast<const std::byte*>(data.in()),
                         reinterpret_cast<std::byte*>(data.out()), segment_bytes, segment_bytes, masks.out()},
      data, masks);
  unsigned wrong = 0;
  for (std::size_t i = 0; i < data.done.size(); ++i) {
    const Counter j0 = load_counter(first_counter(segment_nonce(nonce, first + i / 1024)));
    const bool is_there = i / 1024 < full || i % 1024 < (last + 15) / 16;
    wrong += is_there ? !is_once(data.done[i], j0 + (1 + i % 1024)) : data.done[i].times != 0;
    if (i % 1024 == 0) wrong += !is_once(masks.done[i / 1024], j0);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("every block under consecutive counters is in exactly one tile, with its counter") {
  for (const Counter& counter : counters) {
    for (const std::uint64_t blocks : block_counts) {
      check_ctr<128>(counter, blocks);
      check_ctr<256>(counter, blocks);
    }
  }
}

TEST_CASE("each block of a segment and the mask of its tag are in exactly one tile, with their counters") {
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{0xffffffff}, all - 1}) {
    for (const std::size_t full : {0u, 1u, 63u, 128u}) {
      for (const std::size_t last : last_segments) {
        check_segments<128>(first, full, last);
        check_segments<256>(first, full, last);
      }
    }
  }
}

}  // namespace gpuaes
