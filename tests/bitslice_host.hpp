// The bitsliced kernel's body on whole jobs, one group after the other: what the kernel does with eight
// groups to a warp. Here one thread has all columns of a state; in the kernel four have one each, and what
// they give each other runs on a device only.
#pragma once

#include <cstdint>
#include <vector>

#include "cipher/aes_bitslice_ctr.hpp"
#include "cipher/tiles.hpp"

namespace gpuaes {

inline std::vector<aes::KeyRows> all_key_rows(const aes::RoundKeys& keys) {
  std::vector<aes::KeyRows> rows;
  for (unsigned round = 0; round <= static_cast<unsigned>(keys.rounds); ++round)
    for (unsigned i = 0; i < aes::key_rows; ++i)
      rows.push_back(aes::make_key_rows(&keys.words[std::size_t{4} * round], i));
  return rows;
}

// The keystream of a group's 32 blocks of a tile, which one of the tile's counters is enough to tell;
// transposed.
inline aes::State<4> tile_keystream(const aes::RoundKeys& keys, const std::vector<aes::KeyRows>& rows,
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

// The same of 32 blocks that have nothing to do with each other.
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

template <class Plan>
void run_bitsliced(const aes::RoundKeys& keys, const Plan& plan) {
  const std::vector<aes::KeyRows> rows = all_key_rows(keys);
  for (unsigned group = 0; group < aes::groups; ++group) {
    for (std::uint64_t number = 0; number < plan.aligned(); ++number) {
      const Tile tile = plan.tile(number);
      const aes::State<4> state = tile_keystream(keys, rows, tile.first, group);
      for (unsigned slice = 0; slice < aes::slices; ++slice) {
        const unsigned place = aes::groups * slice + group;
        for (unsigned c = 0; c < 4; ++c) {
          const std::uint32_t word = state.columns[c].words[slice];
          const std::int64_t at = 4 * (tile.offset + place) + c;
          if (place >= tile.begin && place < tile.end) tile.out[at] = tile.in[at] ^ word;
          if (place == mask_place && tile.mask != nullptr) tile.mask[c] = word;
        }
      }
    }
    for (std::uint64_t number = 0; number < plan.gathered(); ++number) {
      const auto place_of = [&](unsigned slice) { return plan.place(number, aes::groups * slice + group); };
      const aes::State<4> state =
          gathered_keystream(keys, rows, [&](unsigned slice) { return place_of(slice).counter; });
      for (unsigned slice = 0; slice < aes::slices; ++slice)
        if (const Place place = place_of(slice); place.is_there)
          for (unsigned c = 0; c < 4; ++c) place.out[c] = place.in[c] ^ state.columns[c].words[slice];
    }
  }
}

}  // namespace gpuaes
