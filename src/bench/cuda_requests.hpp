// Arguments of the benchmarks of CUDA devices. Parsing needs no device, so a wrong argument is the same error
// on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bench/command.hpp"
#include "cipher/ciphers.hpp"

namespace gpuaes {

enum class KernelMode { ctr, seal, open, ecb_encrypt, ecb_decrypt };

struct KernelModeInfo {
  KernelMode mode;
  std::string_view name;
  std::string_view group;  // a name for several modes
};

inline constexpr std::array kernel_modes{
    KernelModeInfo{KernelMode::ctr, "ctr", "ctr"},
    KernelModeInfo{KernelMode::seal, "seal", "aead"},
    KernelModeInfo{KernelMode::open, "open", "aead"},
    KernelModeInfo{KernelMode::ecb_encrypt, "ecb-encrypt", "ecb"},
    KernelModeInfo{KernelMode::ecb_decrypt, "ecb-decrypt", "ecb"},
};

constexpr const KernelModeInfo& info(KernelMode mode) {
  return kernel_modes[static_cast<std::size_t>(mode)];
}

// Modes of segments, as in the sealed format: AES in GCM, Kuznyechik in MGM.
constexpr bool is_aead(KernelMode mode) {
  return mode == KernelMode::seal || mode == KernelMode::open;
}
constexpr bool is_ecb(KernelMode mode) {
  return mode == KernelMode::ecb_encrypt || mode == KernelMode::ecb_decrypt;
}

// The lists have no duplicates.
struct KernelRequest {
  std::vector<std::string> variants;  // names, or prefixes followed by *
  std::vector<Cipher> ciphers;
  std::vector<KernelMode> modes;
  std::vector<std::size_t> sizes;  // bytes of a launch; with ECB whole blocks
  std::vector<bool> copies;        // whether times include copies to and from the device
};

// For gpuaes-bench device: sizes of a copy. UsageError.
std::vector<std::size_t> parse_copy_sizes(const Arguments& arguments);

// What to do with each chunk, in this order.
struct TransferSteps {
  bool read;  // from a file into host memory
  bool in;    // copied to the device
  bool out;   // copied back
};

// In the form that --steps takes.
std::string to_string(const TransferSteps& steps);

struct TransferRequest {
  std::vector<TransferSteps> steps;
  std::vector<unsigned> devices, streams, buffers;  // streams per device, buffers per stream
  std::vector<std::size_t> sizes;                   // of chunks
};

// For gpuaes-bench transfer. UsageError.
std::vector<Command::Option> transfer_options();
TransferRequest parse_transfer_request(const Arguments& arguments);

// For kernels, keys and sweep. UsageError.
std::vector<Command::Option> kernel_options();
KernelRequest parse_kernel_request(const Arguments& arguments);
std::vector<Command::Option> key_options();
KernelRequest parse_key_request(const Arguments& arguments);
std::vector<Command::Option> sweep_options();
KernelRequest parse_sweep_request(const Arguments& arguments);  // in CTR mode, of one size

}  // namespace gpuaes
