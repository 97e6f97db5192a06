// The commands of gpuaes-bench, their arguments, and the benchmarks, one function per command. bench/main.cpp
// lists them and says how to add one.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bench/report.hpp"
#include "cipher/job.hpp"
#include "cli/command_line.hpp"
#include "io/fd_source_sink.hpp"

namespace gpuaes {

// The parts between commas. UsageError if one is empty.
std::vector<std::string> parse_list(const std::string& text);

// A number from 1 to 4096. UsageError.
unsigned parse_count(const std::string& text);

// The arguments that a command was called with.
struct Arguments {
  std::vector<std::string> words;  // after the command
  GivenOptions options;
  ReportForm form = ReportForm::text;
  Cancel& cancel;

  std::string option(const std::string& name, const char* by_default) const {
    const auto found = options.find(name);
    return found == options.end() ? by_default : found->second.front();
  }

  // An option whose value is a list; `parse` makes one value of a part. UsageError.
  template <class Parse>
  auto list(const std::string& name, const char* by_default, const Parse& parse) const {
    std::vector<std::decay_t<decltype(parse(std::string()))>> values;
    for (const std::string& part : parse_list(option(name, by_default))) values.push_back(parse(part));
    return values;
  }
};

struct Command {
  const char* name;
  const char* words;  // in the help: "THREADS SIZE [BUFFERS]"
  std::size_t min_words, max_words;
  const char* text;  // in the help
  void (*run)(const Arguments& arguments);
  std::vector<OptionText> options{};
};

// Runs the command that the first word names, or prints the help. UsageError.
void run_command(std::span<const Command> commands, int argc, const char* const* argv);

// The benchmarks ----------------------------------------------------------------------------------

// Each parses its arguments, then measures and reports row by row. UsageError, IoError; LaneError if a lane
// or a kernel fails or its output differs from that of CPU lanes.
void run_read_bench(const Arguments& arguments);
void run_memory_bench(const Arguments& arguments);
void run_pipeline_bench(const Arguments& arguments);

// Words for the options of run_pipeline_bench().
inline constexpr std::array<std::string_view, 2> pipeline_formats{"raw", "sealed"};
std::vector<std::string_view> measured_lanes();

// Standard input, for threads that read it in parallel. IoError unless it is a regular file or a block device
// with data left to read.
FdSource open_input_file(Cancel& cancel);

// The following need CUDA devices, and skip anything that does not fit into device memory. They are defined
// in cuda/bench or, in a program built without CUDA, in without_cuda.cpp, which refuses them.
void run_device_bench(const Arguments& arguments);
void run_transfer_bench(const Arguments& arguments);
void run_limit_bench(const Arguments& arguments);
void run_kernel_bench(const Arguments& arguments);
void run_key_bench(const Arguments& arguments);

// Their arguments are parsed without a device, so a wrong argument is the same error on every machine.

// For gpuaes-bench device: sizes of a copy. UsageError.
std::vector<std::size_t> parse_copy_sizes(const Arguments& arguments);

// What to do with each chunk, in this order.
struct TransferSteps {
  bool read = false;  // from a file into host memory
  bool in = false;    // copied to the device
  bool out = false;   // copied back
};

struct TransferRequest {
  std::vector<TransferSteps> steps;
  std::vector<unsigned> devices, streams;  // streams per device
  std::vector<std::size_t> sizes;          // of chunks
};

TransferRequest parse_transfer_request(const Arguments& arguments);  // UsageError
std::string to_string(const TransferSteps& steps);                   // in the form that --steps takes

std::vector<std::string_view> kernel_cipher_names();

// The modes of kernels, by Operation.
inline constexpr std::array<std::string_view, 3> kernel_modes{"ctr", "seal", "open"};
constexpr std::string_view name_of(Operation mode) {
  return kernel_modes.at(static_cast<std::size_t>(mode));
}

struct KernelRequest {
  std::vector<std::string> variants;  // names, or prefixes followed by *
  std::vector<Cipher> ciphers;
  std::vector<Operation> modes;
  std::vector<std::size_t> sizes;  // bytes of a launch
};

// UsageError.
KernelRequest parse_kernel_request(const Arguments& arguments);
KernelRequest parse_key_request(const Arguments& arguments);  // of one size

}  // namespace gpuaes
