// The kernel of all variants: bench/aes_lookup.hpp or cipher/kuznyechik/ls_table.hpp in counter mode. CUDA
// block b takes tile b, then tile b + gridDim.x and so on. To coalesce a warp's memory accesses, adjacent
// threads have adjacent cipher blocks, or parts of one; a thread's next cipher block follows those of all
// threads of its CUDA block.
//
// Round keys are read from the kernel's parameters: constant memory is fastest if all threads of a warp read
// one address. Threads that share a block read four addresses at a time, so their round keys are copied to
// shared memory.
#pragma once

#include <type_traits>
#include <vector>

#include "bench/aes_lookup.hpp"
#include "bench/variant_arguments.hpp"
#include "cipher/kuznyechik/ls_table.hpp"

namespace gpuaes::cuda {

using aes::Sbox, aes::Ttables, aes::OneThread, aes::FourThreads, aes::SixteenThreads;

// Kuznyechik's only form, and its cut: one thread per block.
struct Ls {
  static constexpr unsigned tables = 16;
  using Entry = BlockWords;
};
struct LsThread {
  static constexpr unsigned threads = 1;
  using Part = BlockWords;
  __device__ static Part part(const aes::Block& block, unsigned) {
    return {{block.words[0], block.words[1], block.words[2], block.words[3]}};
  }
};
template <class Form>
inline constexpr bool is_ls = std::is_same_v<typename Form::Entry, BlockWords>;

template <class Form>
__device__ const typename Form::Entry* entries_of(const VariantTables& all) {
  if constexpr (is_ls<Form>)
    return all.ls.entries;
  else
    return Form::entries(all.aes);
}

// A thread's part of a block in memory.
template <class Cut>
using Stored = std::conditional_t<Cut::threads == 1, BlockWords,
                                  std::conditional_t<Cut::threads == 4, std::uint32_t, std::uint8_t>>;

template <class Cut>
__device__ typename Cut::Part load_part(const std::byte* data, std::uint64_t block, unsigned position) {
  const Stored<Cut> stored = reinterpret_cast<const Stored<Cut>*>(data)[Cut::threads * block + position];
  if constexpr (Cut::threads == 1)
    return {{stored.words[0], stored.words[1], stored.words[2], stored.words[3]}};
  else
    return stored;
}

template <class Cut>
__device__ void store_part(std::byte* data, std::uint64_t block, unsigned position,
                           const typename Cut::Part& part) {
  Stored<Cut>& stored = reinterpret_cast<Stored<Cut>*>(data)[Cut::threads * block + position];
  if constexpr (Cut::threads == 1)
    stored = {{part.words[0], part.words[1], part.words[2], part.words[3]}};
  else
    stored = static_cast<Stored<Cut>>(part);
}

// Memory has the members memory, shared_bytes, and open(arguments, shared memory of that size). All threads
// call open(), which returns the object to look up in.
template <class Memory, class Form, class Cut, unsigned count>
__global__ void variant_kernel(const VariantArguments arguments) {
  using aes::add;
  // Loads the data in advance; 8 or more blocks need too many registers.
  constexpr bool loads_early = count <= 4;
  extern __shared__ uint4 shared_memory[];
  const auto memory = Memory::open(arguments, shared_memory);
  const std::uint32_t* round_keys = arguments.round_keys;
  if constexpr (Cut::threads > 1) {
    __shared__ std::uint32_t shared_keys[max_key_words];
    for (unsigned i = threadIdx.x; i < max_key_words; i += blockDim.x) shared_keys[i] = round_keys[i];
    round_keys = shared_keys;
  }
  __syncthreads();

  const unsigned groups = blockDim.x / Cut::threads;
  const unsigned group = threadIdx.x / Cut::threads, position = threadIdx.x % Cut::threads;
  const auto gather = [](std::uint32_t own, unsigned from) {
    return __shfl_sync(0xffffffff, own, static_cast<int>(from), Cut::threads);
  };
  const std::uint64_t tile_blocks = std::uint64_t{count} * groups;
  for (std::uint64_t tile = blockIdx.x; tile * tile_blocks < arguments.blocks; tile += gridDim.x) {
    const std::uint64_t first = tile * tile_blocks + group;
    typename Cut::Part parts[count], data[count];
    const auto load = [&](unsigned k) {
      const std::uint64_t block = first + k * groups;
      data[k] = {};
      if (block < arguments.blocks) data[k] = load_part<Cut>(arguments.in, block, position);
    };
#pragma unroll
    for (unsigned k = 0; k < count; ++k) {
      if (loads_early) load(k);
      parts[k] = Cut::part(aes::load_block(arguments.counter + (first + k * groups)), position);
    }
    if constexpr (is_ls<Form>)
      kuznyechik::encrypt(parts, round_keys, memory);
    else
      aes::run_rounds<Cut, Form>(parts, position, round_keys, arguments.rounds, memory, gather);
#pragma unroll
    for (unsigned k = 0; k < count; ++k) {
      const std::uint64_t block = first + k * groups;
      if (!loads_early) load(k);
      if (block < arguments.blocks) store_part<Cut>(arguments.out, block, position, add(parts[k], data[k]));
    }
  }
}

template <class Form>
constexpr Lookup lookup_of() {
  if (is_ls<Form>) return Lookup::ls_tables;
  if (std::is_same_v<Form, Sbox>) return Lookup::sbox;
  return Form::tables == 1 ? Lookup::one_ttable : Lookup::four_ttables;
}

template <class Memory, class Form, class Cut, unsigned... counts>
std::map<unsigned, const void*> kernels_with(std::integer_sequence<unsigned, counts...>) {
  return {{counts, reinterpret_cast<const void*>(&variant_kernel<Memory, Form, Cut, counts>)}...};
}

// One for each number of cipher blocks per thread.
template <class Memory, class Form, class Cut>
std::map<unsigned, const void*> make_kernels() {
  if constexpr (Cut::threads > 1)
    return kernels_with<Memory, Form, Cut>(std::integer_sequence<unsigned, 1>{});
  else if constexpr (is_ls<Form>)
    return kernels_with<Memory, Form, Cut>(std::integer_sequence<unsigned, 1, 2, 4>{});
  else
    return kernels_with<Memory, Form, Cut>(std::integer_sequence<unsigned, 1, 2, 4, 8, 16>{});
}

template <template <class> class Memory, class Form, class Cut = OneThread>
Variant make_variant(const char* name) {
  return {name,         lookup_of<Form>(),          Memory<Form>::memory,
          Cut::threads, Memory<Form>::shared_bytes, make_kernels<Memory<Form>, Form, Cut>()};
}

}  // namespace gpuaes::cuda
