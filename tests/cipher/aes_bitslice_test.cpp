// The bitsliced kernel's code, with one thread that holds all columns of a state, against the reference. The
// exchange between threads that hold one column each is tested in host_kernels_test.cpp.
#include <algorithm>
#include <array>
#include <vector>

#include "cipher/aes/bitslice_ctr.hpp"
#include "support/aes_reference.hpp"
#include "support/catch.hpp"

namespace gpuaes {
namespace {

aes::RoundKeys test_keys(std::size_t key_bytes) {
  Bytes key(key_bytes);
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i * 37 + 11);
  return aes::expand_key(key);
}

std::vector<aes::KeyRows> all_key_rows(const aes::RoundKeys& keys) {
  std::vector<aes::KeyRows> rows;
  for (unsigned round = 0; round <= static_cast<unsigned>(keys.rounds); ++round)
    for (unsigned i = 0; i < aes::key_rows; ++i)
      rows.push_back(aes::make_key_rows(&keys.words[std::size_t{4} * round], i));
  return rows;
}

// The keystream of the 32 blocks of a group in a tile, transposed. `within` is any counter of the tile.
aes::State<4> tile_keystream(const aes::RoundKeys& keys, const std::vector<aes::KeyRows>& rows,
                             Counter within, unsigned group) {
  const aes::SharedRounds shared = aes::share_rounds(within, keys.words.data());
  aes::State<4> state;
  for (unsigned c = 0; c < 4; ++c)
    state.columns[c] = aes::begin_tile(c, aes::make_last_byte(group, c, keys.words.data()), shared.column0,
                                       shared.rest.words[c]);
  aes::encrypt(state, rows.data(), 3, keys.rounds, 0);
  for (aes::Column& column : state.columns) aes::transpose(column);
  return state;
}

// The same for 32 unrelated blocks.
template <class CounterOf>
aes::State<4> gathered_keystream(const aes::RoundKeys& keys, const std::vector<aes::KeyRows>& rows,
                                 CounterOf counter_of) {
  aes::State<4> state;
  for (unsigned slice = 0; slice < aes::slices; ++slice) {
    const aes::Block block = aes::load_block(counter_of(slice));
    for (unsigned c = 0; c < 4; ++c) state.columns[c].words[slice] = block.words[c];
  }
  for (unsigned c = 0; c < 4; ++c) {
    aes::transpose(state.columns[c]);
    aes::add_key(state.columns[c], rows.data(), c);
  }
  aes::encrypt(state, rows.data(), 1, keys.rounds, 0);
  for (aes::Column& column : state.columns) aes::transpose(column);
  return state;
}

CounterBlock bytes_of(const aes::State<4>& transposed, unsigned slice) {
  aes::Block block;
  for (unsigned c = 0; c < 4; ++c) block.words[c] = transposed.columns[c].words[slice];
  return to_bytes(block);
}

// Checks all counters of the tile that contains `within`.
void check_tile(const aes::RoundKeys& keys, Counter within) {
  const Counter first{within.high, within.low - within.low % aes::tile_blocks};
  const std::vector<aes::KeyRows> rows = all_key_rows(keys);
  unsigned wrong = 0;
  for (unsigned group = 0; group < aes::groups; ++group) {
    const aes::State<4> state = tile_keystream(keys, rows, within, group);
    for (unsigned slice = 0; slice < aes::slices; ++slice)
      wrong += bytes_of(state, slice) != reference_keystream(keys, first, aes::groups * slice + group);
  }
  CAPTURE(keys.rounds, within.high, within.low);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("the S-box circuit matches the table in every slice") {
  for (unsigned slice = 0; slice < 32; ++slice) {
    for (unsigned value = 0; value < 256; ++value) {
      std::uint32_t x[8], result = 0;
      for (unsigned i = 0; i < 8; ++i) x[i] = (value >> i & 1) << slice;
      aes::substitute(x);
      for (unsigned i = 0; i < 8; ++i) result |= (x[i] >> slice & 1) << i;
      REQUIRE(result == aes::sbox[value]);
    }
  }
}

TEST_CASE("transposing swaps words and bits, and transposing again restores them") {
  aes::Column column{};
  for (unsigned i = 0; i < 32; ++i) column.words[i] = 0x9e3779b9u * (i + 1);
  const aes::Column before = column;
  aes::transpose(column);
  for (unsigned i = 0; i < 32; ++i)
    for (unsigned k = 0; k < 32; ++k) REQUIRE((column.words[k] >> i & 1) == (before.words[i] >> k & 1));
  aes::transpose(column);
  CHECK(std::equal(column.words, column.words + 32, before.words));
}

TEST_CASE("a bitsliced tile matches the reference, whichever of its counters it starts from") {
  for (const std::size_t key_bytes : {16, 24, 32}) {
    const aes::RoundKeys keys = test_keys(key_bytes);
    for (const std::uint64_t low : {0u, 1u, 0xffu, 0x100u, 0x98765432u})
      check_tile(keys, {0x0123456789abcdef, low});
    check_tile(keys, {~std::uint64_t{0}, ~std::uint64_t{0}});
  }
}

TEST_CASE("unrelated bitsliced blocks match the reference") {
  for (const std::size_t key_bytes : {16, 24, 32}) {
    const aes::RoundKeys keys = test_keys(key_bytes);
    const std::vector<aes::KeyRows> rows = all_key_rows(keys);
    const auto block_of = [](unsigned slice) {
      const std::uint64_t number = slice + 1;
      return Counter{0x0123456789abcdef * number, 0xfedcba9876543211 * number};
    };
    const aes::State<4> state = gathered_keystream(keys, rows, block_of);
    for (unsigned slice = 0; slice < aes::slices; ++slice)
      CHECK(bytes_of(state, slice) == reference_keystream(keys, block_of(slice), 0));
  }
}

}  // namespace gpuaes
