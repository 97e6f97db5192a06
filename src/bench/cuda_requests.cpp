#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "bench/benches.hpp"
#include "cli/option_values.hpp"

namespace gpuaes {
namespace {

constexpr std::array<std::pair<std::string_view, bool TransferSteps::*>, 3> step_names{
    {{"read", &TransferSteps::read}, {"in", &TransferSteps::in}, {"out", &TransferSteps::out}}};

TransferSteps parse_steps(const std::string& text) {
  TransferSteps steps;
  for (const std::string_view name : split(text, '+')) {
    const auto* const found =
        std::ranges::find(step_names, name, [](const auto& each) { return each.first; });
    if (found == step_names.end())
      throw UsageError(fmt::format("step '{}' is not known", name),
                       "steps are read, in and out, joined by +");
    steps.*found->second = true;
  }
  return steps;
}

std::vector<Operation> parse_modes(const std::string& text) {
  std::vector<Operation> modes;
  for (const std::string& name : parse_list(text)) {
    const auto* const found = std::ranges::find(kernel_modes, name);
    if (name == "aead")
      modes.insert(modes.end(), {Operation::seal, Operation::open});
    else if (found != kernel_modes.end())
      modes.push_back(static_cast<Operation>(found - kernel_modes.begin()));
    else
      throw UsageError(fmt::format("mode '{}' is not known", name),
                       "modes are ctr, seal and open; aead means seal and open");
  }
  return modes;
}

Cipher parse_kernel_cipher(const std::string& name) {
  if (const std::optional<Cipher> cipher = find_cipher(name)) return *cipher;
  throw UsageError(fmt::format("unknown cipher '{}'", name),
                   fmt::format("the ciphers are {}", join(kernel_cipher_names())));
}

KernelRequest parse_common(const Arguments& arguments, const char* variants, const char* cipher_list) {
  return {.variants = parse_list(arguments.option("variants", variants)),
          .ciphers = arguments.list("ciphers", cipher_list, parse_kernel_cipher),
          .modes = parse_modes(arguments.option("modes", "ctr,aead"))};
}

}  // namespace

std::vector<std::string_view> kernel_cipher_names() {
  std::vector<std::string_view> names;
  for (const CipherInfo& each : ciphers) names.push_back(each.name);
  return names;
}

std::vector<std::size_t> parse_copy_sizes(const Arguments& arguments) {
  if (arguments.words.empty()) return {1 << 20, 4 << 20, 16 << 20};
  const std::size_t size = parse_size(arguments.words[0]);
  if (size > 64 << 20) throw UsageError("copies are at most 64M");
  return {size};
}

std::string to_string(const TransferSteps& steps) {
  std::string text;
  for (const auto& [name, step] : step_names)
    if (steps.*step) text.append(text.empty() ? "" : "+").append(name);
  return text;
}

TransferRequest parse_transfer_request(const Arguments& arguments) {
  return {.steps = arguments.list("steps", "in,out,in+out", parse_steps),
          .devices = arguments.list("devices", "1", parse_count),
          .streams = arguments.list("streams", "8", parse_count),
          .sizes = arguments.list("sizes", "2M", parse_size)};
}

KernelRequest parse_kernel_request(const Arguments& arguments) {
  KernelRequest request = parse_common(arguments, "*", "aes-128,aes-256,kuznyechik");
  request.sizes = arguments.list("sizes", "1K,4K,16K,64K,256K,1M,4M,16M,64M,256M,1G", parse_size);
  return request;
}

KernelRequest parse_key_request(const Arguments& arguments) {
  KernelRequest request =
      parse_common(arguments, "bitslice,chacha20", "aes-128,aes-256,kuznyechik,chacha20-poly1305");
  request.sizes = {64 << 20};
  return request;
}

}  // namespace gpuaes
