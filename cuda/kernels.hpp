// Kernel launches as plain C++: nothing here needs nvcc. Every function enqueues on `stream` and returns;
// errors of the launch are thrown as LaneError, errors of the kernel come out where the stream is waited for.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cipher/ctr.hpp"

namespace gpuaes::cuda {

// out[i] = in[i] XOR AES-CTR keystream, for `size` bytes (any number, also 0).
// `in`, `out`: device memory, aligned to 16 bytes, readable and writable up to the next multiple of
// 16; they may be the same memory, and must not overlap otherwise.
// `round_keys`: device memory, 4 * (rounds + 1) words, as aes::expand_key() makes them. `rounds`: 10, 12
// or 14. Uses T-tables in shared memory: addresses depend on key and data.
void launch_aes_ctr(const std::uint32_t* round_keys, int rounds, Counter counter, const std::byte* in,
                    std::byte* out, std::size_t size, cudaStream_t stream);

}  // namespace gpuaes::cuda
