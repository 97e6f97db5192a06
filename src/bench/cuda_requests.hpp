// What the benches of CUDA devices are asked for. Parsing needs no device, so a wrong argument is the same
// error on every machine.
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
  std::string_view group;  // which names several of them together
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

// Of segments, as the filter has them: AES in GCM, Kuznyechik in MGM.
constexpr bool is_aead(KernelMode mode) {
  return mode == KernelMode::seal || mode == KernelMode::open;
}
constexpr bool is_ecb(KernelMode mode) {
  return mode == KernelMode::ecb_encrypt || mode == KernelMode::ecb_decrypt;
}

// Nothing in it comes twice.
struct KernelRequest {
  std::vector<std::string> variants;  // names, or the beginnings of names followed by *
  std::vector<Cipher> ciphers;
  std::vector<KernelMode> modes;
  std::vector<std::size_t> sizes;  // bytes of a launch; with ECB whole blocks
  std::vector<bool> copies;        // whether copies to and from the device are in the time
};

// For gpuaes-bench device: bytes of a copy. UsageError.
std::vector<std::size_t> parse_copy_sizes(const Arguments& arguments);

// For kernels, keys and sweep: the options that each has, and what they say. UsageError.
std::vector<Command::Option> kernel_options();
KernelRequest parse_kernel_request(const Arguments& arguments);
std::vector<Command::Option> key_options();
KernelRequest parse_key_request(const Arguments& arguments);
std::vector<Command::Option> sweep_options();
KernelRequest parse_sweep_request(const Arguments& arguments);  // in CTR mode, of one size

}  // namespace gpuaes
