// AES by table lookup in the ways that have been tried on GPUs, as run by one thread. The bench compares
// them; tests run the same bodies on the host. Memory addresses depend on key and data.
//
// A round is written once, with three template parameters:
// - The form: which tables it uses. These are the S-box, with MixColumns computed, or T-tables, which combine
//   both: one table, rotated for each row, or four.
// - The memory that holds the tables.
// - The cut: how many threads share a block, and what they exchange.
#pragma once

#include <bit>
#include <cstdint>

#include "cipher/aes/aes.hpp"
#include "cipher/aes/block.hpp"
#include "cipher/aes/ttable.hpp"
#include "cipher/host_device.hpp"

namespace gpuaes::aes {

// All tables. Entry x of T-table t is words[256 t + x].
struct LookupTables {
  std::uint32_t words[1024];
  std::uint8_t bytes[256];  // the S-box
};

constexpr LookupTables make_lookup_tables() {
  const TTable table = make_ttable();
  LookupTables tables{};
  for (unsigned i = 0; i < 1024; ++i)
    tables.words[i] = std::rotl(table.words[i % 256], 8 * static_cast<int>(i / 256));
  for (unsigned i = 0; i < 256; ++i) tables.bytes[i] = sbox[i];
  return tables;
}

// The lowest bytes of four words as one word.
GPUAES_HD inline std::uint32_t pack(const std::uint32_t (&v)[4]) {
  return permute(permute(v[0], v[1], 0x0040), permute(v[2], v[3], 0x0040), 0x5410);
}

// Forms. `table(row)` is the table for a byte of that row. `join` makes a column from its four entries.
// `join_last` does so in the last round, which has no MixColumns, from entries of table 0.

struct Sbox {
  static constexpr unsigned tables = 1;
  using Entry = std::uint8_t;
  GPUAES_HD static const Entry* entries(const LookupTables& all) { return all.bytes; }
  GPUAES_HD static constexpr unsigned table(unsigned) { return 0; }
  GPUAES_HD static std::uint32_t join(const std::uint32_t (&v)[4]) { return mix_column(pack(v)); }
  GPUAES_HD static std::uint32_t join_last(const std::uint32_t (&v)[4]) { return pack(v); }
};

template <unsigned count>
struct Ttables {
  static_assert(count == 1 || count == 4);
  static constexpr unsigned tables = count;
  using Entry = std::uint32_t;
  GPUAES_HD static const Entry* entries(const LookupTables& all) { return all.words; }
  GPUAES_HD static constexpr unsigned table(unsigned row) { return count == 1 ? 0 : row; }
  GPUAES_HD static std::uint32_t join(const std::uint32_t (&v)[4]) {
    if (count == 4) return v[0] ^ v[1] ^ v[2] ^ v[3];
    return v[0] ^ permute(v[1], v[1], 0x2103) ^ permute(v[2], v[2], 0x1032) ^ permute(v[3], v[3], 0x0321);
  }
  // Row 1 of an entry is the S-box's value.
  GPUAES_HD static std::uint32_t join_last(const std::uint32_t (&v)[4]) {
    return permute(permute(v[0], v[1], 0x0051), permute(v[2], v[3], 0x0051), 0x5410);
  }
};

// Memories. `look_up` returns the table's entry for the byte in `row` of a word.

template <class Entry>
struct Linear {
  const Entry* entries;
  GPUAES_HD Entry entry(unsigned index) const { return entries[index]; }
};

template <class Memory>
GPUAES_HD inline std::uint32_t look_up(const Memory& memory, unsigned table, std::uint32_t word,
                                       unsigned row) {
  return memory.entry(256 * table + (word >> 8 * row & 0xff));
}

// Shared memory serves one word from each of 32 banks at a time. Here every thread of a warp has a copy of
// the tables in its own bank. With one table, entry x starts at word 32 x. Four tables form two pairs, and
// entry x of a pair starts at word 64 x, so one permutation turns a byte into an address.
template <unsigned tables>
struct Banked {
  static constexpr unsigned words = tables * 256 * 32;

  const std::uint32_t* replicated;
  std::uint32_t bank_offset;  // 4 times the bank, 0 to 31

  // The entry, 256 t + x, that belongs in that word.
  GPUAES_HD static constexpr unsigned entry_of(unsigned word) {
    if (tables == 1) return word / 32;
    return 256 * (word / 16384 * 2 + word / 32 % 2) + word % 16384 / 64;
  }
};

template <unsigned tables>
GPUAES_HD inline std::uint32_t look_up(const Banked<tables>& memory, unsigned table, std::uint32_t word,
                                       unsigned row) {
  std::uint32_t offset = (word >> 8 * row & 0xff) << 7 | memory.bank_offset;
  if (tables == 4)
    offset = permute(word, memory.bank_offset, 0x5504 | row << 4) + table / 2 * 65536 + table % 2 * 128;
  return *reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const char*>(memory.replicated) + offset);
}

// Cuts. The thread at `position` has one part of the block. `step` computes its part of the next state,
// without the round key. `give` returns its contribution for the other threads; gather(v, position), given
// the thread's own contribution `v`, returns that of the thread at `position`. `part` and `key` extract its
// part of a block in registers and of a round key in memory.

// The column from which ShiftRows takes `row` of `column`.
GPUAES_HD constexpr unsigned source_column(unsigned column, unsigned row) {
  return (column + row) % 4;
}

// The new column from the columns that ShiftRows takes its rows from.
template <class Form, bool last, class Memory>
GPUAES_HD inline std::uint32_t next_column(const Memory& memory, const std::uint32_t (&rows)[4]) {
  std::uint32_t entries[4];
  for (unsigned r = 0; r < 4; ++r) entries[r] = look_up(memory, last ? 0 : Form::table(r), rows[r], r);
  return last ? Form::join_last(entries) : Form::join(entries);
}

GPUAES_HD inline std::uint32_t add(std::uint32_t a, std::uint32_t b) {
  return a ^ b;
}

// A column of a block. Registers cannot be indexed.
GPUAES_HD inline std::uint32_t choose(const Block& block, unsigned column) {
  const std::uint32_t* const w = block.words;
  return column < 2 ? column == 0 ? w[0] : w[1] : column == 2 ? w[2] : w[3];
}

struct OneThread {
  static constexpr unsigned threads = 1;
  using Part = Block;
  GPUAES_HD static Part part(const Block& block, unsigned) { return block; }
  GPUAES_HD static Part key(const std::uint32_t k[4], unsigned) { return {{k[0], k[1], k[2], k[3]}}; }
  template <class Form, bool last, class Memory, class Gather>
  GPUAES_HD static Part step(const Part& state, unsigned, const Memory& memory, const Gather&) {
    Part next;
    for (unsigned c = 0; c < 4; ++c) {
      std::uint32_t rows[4];
      for (unsigned r = 0; r < 4; ++r) rows[r] = state.words[source_column(c, r)];
      next.words[c] = next_column<Form, last>(memory, rows);
    }
    return next;
  }
};

// Each thread has a column.
struct FourThreads {
  static constexpr unsigned threads = 4;
  using Part = std::uint32_t;
  GPUAES_HD static Part part(const Block& block, unsigned position) { return choose(block, position); }
  GPUAES_HD static Part key(const std::uint32_t k[4], unsigned position) { return k[position]; }
  template <class Form, bool last, class Memory>
  GPUAES_HD static std::uint32_t give(Part state, unsigned, const Memory&) {
    return state;
  }
  template <class Form, bool last, class Memory, class Gather>
  GPUAES_HD static Part step(Part state, unsigned position, const Memory& memory, const Gather& gather) {
    std::uint32_t rows[4] = {state};
    for (unsigned r = 1; r < 4; ++r) rows[r] = gather(state, source_column(position, r));
    return next_column<Form, last>(memory, rows);
  }
};

// Each thread has the byte in row position % 4 of column position / 4; the other bits of its part are 0. It
// looks its byte up and contributes the entry.
struct SixteenThreads {
  static constexpr unsigned threads = 16;
  using Part = std::uint32_t;
  GPUAES_HD static Part part(const Block& block, unsigned position) {
    return choose(block, position / 4) >> 8 * (position % 4) & 0xff;
  }
  GPUAES_HD static Part key(const std::uint32_t k[4], unsigned position) {
    return k[position / 4] >> 8 * (position % 4) & 0xff;
  }
  template <class Form, bool last, class Memory>
  GPUAES_HD static std::uint32_t give(Part state, unsigned position, const Memory& memory) {
    return look_up(memory, last ? 0 : Form::table(position % 4), state, 0);
  }
  template <class Form, bool last, class Memory, class Gather>
  GPUAES_HD static Part step(Part state, unsigned position, const Memory& memory, const Gather& gather) {
    const std::uint32_t own = give<Form, last>(state, position, memory);
    std::uint32_t entries[4];
    for (unsigned r = 0; r < 4; ++r) entries[r] = gather(own, 4 * source_column(position / 4, r) + r);
    const std::uint32_t column = last ? Form::join_last(entries) : Form::join(entries);
    return column >> 8 * (position % 4) & 0xff;
  }
};

// One round of `count` blocks together, which hides latency and shares the load of the round key.
template <class Cut, class Form, bool last, unsigned count, class Memory, class Gather>
GPUAES_HD inline void run_round(typename Cut::Part (&parts)[count], unsigned position,
                                const std::uint32_t* round_key, const Memory& memory, const Gather& gather) {
  const typename Cut::Part key = Cut::key(round_key, position);
  GPUAES_UNROLL
  for (unsigned k = 0; k < count; ++k)
    parts[k] = add(Cut::template step<Form, last>(parts[k], position, memory, gather), key);
}

// All rounds. `round_keys` are 4 * (rounds + 1) words from expand_key().
template <class Cut, class Form, unsigned count, class Memory, class Gather>
GPUAES_HD inline void run_rounds(typename Cut::Part (&parts)[count], unsigned position,
                                 const std::uint32_t* round_keys, int rounds, const Memory& memory,
                                 const Gather& gather) {
  const typename Cut::Part key = Cut::key(round_keys, position);
  GPUAES_UNROLL
  for (unsigned k = 0; k < count; ++k) parts[k] = add(parts[k], key);
  GPUAES_NO_UNROLL
  for (int round = 1; round < rounds; ++round)
    run_round<Cut, Form, false>(parts, position, round_keys + 4 * round, memory, gather);
  run_round<Cut, Form, true>(parts, position, round_keys + 4 * rounds, memory, gather);
}

}  // namespace gpuaes::aes
