// The kernel of all variants: variants/aes_lookup.hpp, or cipher/kuznyechik/ls_table.hpp and
// variants/inverse.hpp, on whole buffers. CUDA block b takes tile b, then tile b + gridDim.x and so on if the
// grid is smaller than the data. To coalesce a warp's memory accesses, adjacent threads have adjacent cipher
// blocks, or parts of one; a thread's next cipher block follows those of all threads of its CUDA block.
//
// Round keys are read from the kernel's parameters: constant memory is fastest if all threads of a warp read
// one address. Threads that share a block read four addresses at a time, so their round keys are copied to
// shared memory.
#pragma once

#include <type_traits>

#include "cipher/kuznyechik/ls_table.hpp"
#include "variants/aes_lookup.hpp"
#include "variants/arguments.hpp"
#include "variants/inverse.hpp"

namespace gpuaes::cuda {

// Kuznyechik's only form, and its cut: one thread per block.
template <Direction way>
struct LsForm {
  static constexpr Direction direction = way;
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

__device__ inline aes::Block load_part(aes::OneThread, const std::byte* data, std::uint64_t block, unsigned) {
  const uint4 words = reinterpret_cast<const uint4*>(data)[block];
  return {{words.x, words.y, words.z, words.w}};
}
__device__ inline BlockWords load_part(LsThread, const std::byte* data, std::uint64_t block, unsigned) {
  return reinterpret_cast<const BlockWords*>(data)[block];
}
__device__ inline std::uint32_t load_part(aes::FourThreads, const std::byte* data, std::uint64_t block,
                                          unsigned position) {
  return reinterpret_cast<const std::uint32_t*>(data)[4 * block + position];
}
__device__ inline std::uint32_t load_part(aes::SixteenThreads, const std::byte* data, std::uint64_t block,
                                          unsigned position) {
  return reinterpret_cast<const std::uint8_t*>(data)[16 * block + position];
}

__device__ inline void store_part(aes::OneThread, std::byte* data, std::uint64_t block, unsigned,
                                  const aes::Block& part) {
  reinterpret_cast<uint4*>(data)[block] = {part.words[0], part.words[1], part.words[2], part.words[3]};
}
__device__ inline void store_part(LsThread, std::byte* data, std::uint64_t block, unsigned,
                                  const BlockWords& part) {
  reinterpret_cast<BlockWords*>(data)[block] = part;
}
__device__ inline void store_part(aes::FourThreads, std::byte* data, std::uint64_t block, unsigned position,
                                  std::uint32_t part) {
  reinterpret_cast<std::uint32_t*>(data)[4 * block + position] = part;
}
__device__ inline void store_part(aes::SixteenThreads, std::byte* data, std::uint64_t block,
                                  unsigned position, std::uint32_t part) {
  reinterpret_cast<std::uint8_t*>(data)[16 * block + position] = static_cast<std::uint8_t>(part);
}

template <class Form, class Cut, unsigned count, class Memory, class Gather>
__device__ void run_cipher(typename Cut::Part (&parts)[count], unsigned position,
                           const std::uint32_t* round_keys, const VariantArguments& arguments,
                           const Memory& memory, const Gather& gather) {
  if constexpr (!is_ls<Form>)
    aes::run_rounds<Cut, Form>(parts, position, round_keys, arguments.rounds, memory, gather);
  else if constexpr (Form::direction == Direction::encrypt)
    kuznyechik::encrypt(parts, round_keys, memory);
  else
    kuznyechik::decrypt(parts, round_keys, memory, arguments.tables->substitution);
}

// Memory has the members memory, shared_bytes, and open(arguments, shared memory of that size). All threads
// call open(), which returns the object to look up in.
template <class Memory, class Form, class Cut, bool is_ctr, unsigned count>
__global__ void variant_kernel(const VariantArguments arguments) {
  using aes::add;
  // Loads the data for CTR mode in advance; with 8 blocks or more there are not enough registers.
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
      if (block < arguments.blocks) data[k] = load_part(Cut{}, arguments.in, block, position);
    };
#pragma unroll
    for (unsigned k = 0; k < count; ++k) {
      if (!is_ctr || loads_early) load(k);
      const aes::Block counter = aes::load_block(arguments.counter + (first + k * groups));
      parts[k] = is_ctr ? Cut::part(counter, position) : data[k];
    }
    run_cipher<Form, Cut>(parts, position, round_keys, arguments, memory, gather);
#pragma unroll
    for (unsigned k = 0; k < count; ++k) {
      const std::uint64_t block = first + k * groups;
      if (is_ctr && !loads_early) load(k);
      if (is_ctr) parts[k] = add(parts[k], data[k]);
      if (block < arguments.blocks) store_part(Cut{}, arguments.out, block, position, parts[k]);
    }
  }
}

// The variants' forms for either direction.
struct Sbox {
  static constexpr Lookup lookup = Lookup::sbox;
  template <Direction direction>
  using Form = aes::Sbox<direction>;
};
template <unsigned count>
struct Ttables {
  static constexpr Lookup lookup = count == 1 ? Lookup::one_ttable : Lookup::four_ttables;
  template <Direction direction>
  using Form = aes::Ttables<direction, count>;
};
struct Ls {
  static constexpr Lookup lookup = Lookup::ls_tables;
  template <Direction direction>
  using Form = LsForm<direction>;
};

template <template <class> class Memory, class Form, class Cut, bool is_ctr>
const void* kernel_for(unsigned blocks_per_thread) {
  const auto kernel = [](auto count) {
    return reinterpret_cast<const void*>(&variant_kernel<Memory<Form>, Form, Cut, is_ctr, count.value>);
  };
  if (blocks_per_thread == 1) return kernel(std::integral_constant<unsigned, 1>{});
  if constexpr (Cut::threads == 1) {
    if (blocks_per_thread == 2) return kernel(std::integral_constant<unsigned, 2>{});
    if (blocks_per_thread == 4) return kernel(std::integral_constant<unsigned, 4>{});
  }
  if constexpr (Cut::threads == 1 && !is_ls<Form>) {
    if (blocks_per_thread == 8) return kernel(std::integral_constant<unsigned, 8>{});
    if (blocks_per_thread == 16) return kernel(std::integral_constant<unsigned, 16>{});
  }
  return nullptr;
}

template <template <class> class Memory, class Forms, class Cut>
const void* kernel_of(Mode mode, unsigned blocks_per_thread) {
  using Encrypt = typename Forms::template Form<Direction::encrypt>;
  using Decrypt = typename Forms::template Form<Direction::decrypt>;
  if (mode == Mode::ctr) return kernel_for<Memory, Encrypt, Cut, true>(blocks_per_thread);
  if (mode == Mode::ecb_encrypt) return kernel_for<Memory, Encrypt, Cut, false>(blocks_per_thread);
  return kernel_for<Memory, Decrypt, Cut, false>(blocks_per_thread);
}

template <template <class> class Memory, class Forms, class Cut = aes::OneThread>
constexpr Variant make_variant(std::string_view name, std::string_view about) {
  using Encrypt = Memory<typename Forms::template Form<Direction::encrypt>>;
  using Decrypt = Memory<typename Forms::template Form<Direction::decrypt>>;
  static_assert(Encrypt::shared_bytes == Decrypt::shared_bytes && Encrypt::memory == Decrypt::memory);
  return {name,
          about,
          Forms::lookup,
          Encrypt::memory,
          Cut::threads,
          Encrypt::shared_bytes,
          kernel_of<Memory, Forms, Cut>};
}

}  // namespace gpuaes::cuda
