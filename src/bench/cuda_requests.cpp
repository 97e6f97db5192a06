#include "bench/cuda_requests.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/rows.hpp"
#include "base/text.hpp"
#include "cli/options.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t max_copy_bytes = 64 << 20;

std::vector<std::string_view> mode_names() {
  return names_of(kernel_modes);
}

constexpr std::array<std::pair<std::string_view, bool TransferSteps::*>, 3> step_names{
    {{"read", &TransferSteps::read}, {"in", &TransferSteps::in}, {"out", &TransferSteps::out}}};

constexpr std::array<std::string_view, 2> kinds_of_copies{"no", "yes"};

const Command::Option variants_option{
    "variants", "NAMES",
    "Kernels, separated by commas. NAME* means all that begin with NAME; an unknown name lists them all."};
const Command::Option ciphers_option{
    "ciphers", "NAMES", "aes-128, aes-192, aes-256 and kuznyechik, separated by commas.", cipher_names};
const Command::Option modes_option{"modes", "MODES",
                                   "ctr, seal, open, ecb-encrypt and ecb-decrypt, separated by commas; aead "
                                   "is seal,open and ecb is both ECB modes.",
                                   mode_names};

template <class Value>
void add_new(std::vector<Value>& values, const Value& value) {
  if (std::ranges::find(values, value) == values.end()) values.push_back(value);
}

std::vector<std::string> list_of(const Arguments& arguments, const char* option, const char* by_default) {
  return parse_list(arguments.option(option).value_or(by_default));
}

void add_modes(std::vector<KernelMode>& modes, const std::string& name) {
  bool known = false;
  for (const KernelModeInfo& each : kernel_modes) {
    if (name != each.name && name != each.group) continue;
    add_new(modes, each.mode);
    known = true;
  }
  if (known) return;
  throw UsageError(fmt::format("mode '{}' is not known", name),
                   fmt::format("modes are {}; aead and ecb each name two of them", join(mode_names())));
}

bool parse_copies(const std::string& text) {
  if (std::ranges::count(kinds_of_copies, text) == 0)
    throw UsageError(fmt::format("copies '{}' are not known", text), "use no, yes, or no,yes");
  return text == "yes";
}

TransferSteps parse_steps(const std::string& text) {
  TransferSteps steps{};
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

struct Defaults {
  const char *variants, *ciphers, *modes;
};

KernelRequest parse_common(const Arguments& arguments, const Defaults& defaults) {
  KernelRequest request{.variants = list_of(arguments, "variants", defaults.variants)};
  for (const std::string& name : list_of(arguments, "ciphers", defaults.ciphers))
    add_new(request.ciphers, parse_cipher(name));
  for (const std::string& name : list_of(arguments, "modes", defaults.modes)) add_modes(request.modes, name);
  return request;
}

}  // namespace

std::vector<std::size_t> parse_copy_sizes(const Arguments& arguments) {
  if (arguments.words.empty()) return {1 << 20, 4 << 20, 16 << 20};
  const std::size_t size = parse_size(arguments.words[0]);
  if (size > max_copy_bytes) throw UsageError("copies are at most 64M");
  return {size};
}

std::string to_string(const TransferSteps& steps) {
  std::string text;
  for (const auto& [name, step] : step_names)
    if (steps.*step) text.append(text.empty() ? "" : "+").append(name);
  return text;
}

std::vector<Command::Option> transfer_options() {
  return {
      {"steps", "STEPS",
       "Steps for each chunk, joined by +: read (from standard input), in (to the device), out (back from "
       "it). Separate several lists with commas (default in,out,in+out)."},
      {"devices", "COUNTS", "Numbers of devices, separated by commas (default 1)."},
      {"streams", "COUNTS", "Numbers of streams per device, separated by commas (default 8)."},
      {"buffers", "COUNTS", "Numbers of chunks per stream, separated by commas (default 2)."},
      {"sizes", "SIZES", "Bytes of a chunk, separated by commas (default 2M)."}};
}

TransferRequest parse_transfer_request(const Arguments& arguments) {
  TransferRequest request;
  for (const std::string& steps : list_of(arguments, "steps", "in,out,in+out"))
    request.steps.push_back(parse_steps(steps));
  const auto counts = [&](const char* option, const char* by_default) {
    std::vector<unsigned> values;
    for (const std::string& count : list_of(arguments, option, by_default))
      values.push_back(parse_count(count));
    return values;
  };
  request.devices = counts("devices", "1");
  request.streams = counts("streams", "8");
  request.buffers = counts("buffers", "2");
  for (const std::string& size : list_of(arguments, "sizes", "2M")) request.sizes.push_back(parse_size(size));
  return request;
}

std::vector<Command::Option> kernel_options() {
  return {variants_option,
          ciphers_option,
          modes_option,
          {"sizes", "SIZES", "Bytes per launch, separated by commas (default 1K,4K,16K,...,1G)."},
          {"copies", "KINDS",
           "no (the default): the data stays on the device. yes: it is copied there and back. Or no,yes.",
           words_in<kinds_of_copies>}};
}

KernelRequest parse_kernel_request(const Arguments& arguments) {
  KernelRequest request = parse_common(arguments, {"*", "aes-128,aes-256,kuznyechik", "ctr,aead"});
  for (const std::string& size : list_of(arguments, "sizes", "1K,4K,16K,64K,256K,1M,4M,16M,64M,256M,1G"))
    add_new(request.sizes, parse_size(size));
  for (const std::string& kind : list_of(arguments, "copies", "no"))
    add_new(request.copies, parse_copies(kind));
  const auto broken = std::ranges::find_if(request.sizes, [](std::size_t size) { return size % 16 != 0; });
  if (broken != request.sizes.end() && std::ranges::any_of(request.modes, is_ecb))
    throw UsageError(fmt::format("size {} is not a multiple of 16, the block size of ECB", *broken));
  return request;
}

std::vector<Command::Option> key_options() {
  return {variants_option, ciphers_option, modes_option};
}

KernelRequest parse_key_request(const Arguments& arguments) {
  KernelRequest request = parse_common(arguments, {"bitslice", "aes-128,aes-256,kuznyechik", "ctr,aead"});
  request.sizes = {64 << 20};
  return request;
}

std::vector<Command::Option> sweep_options() {
  return {variants_option,
          ciphers_option,
          {"size", "SIZE", "Bytes per launch (default 4M, as CUDA lanes use for a file)."}};
}

KernelRequest parse_sweep_request(const Arguments& arguments) {
  KernelRequest request = parse_common(arguments, {"bitslice", "aes-256", "ctr"});
  request.sizes = {parse_size(arguments.option("size").value_or("4M"))};
  return request;
}

}  // namespace gpuaes
