// The benchmarks of gpuaes-bench, one function per command. bench/main.cpp lists them and says how to add
// one.
//
// Each parses its arguments, then measures and reports row by row. UsageError, IoError; LaneError if a lane
// or a kernel fails or its output differs from the reference.
#pragma once

#include <vector>

#include "bench/command.hpp"

namespace gpuaes {

// Copies standard input to standard output with the filter's source, sink and pipe sizes and a single buffer.
void run_copy_bench(const Arguments& arguments);

// Reads standard input, a regular file or a block device, from its offset to its end in parallel threads.
// Each takes the next range of the file and the buffer that was filled longest ago, as lanes take ranges and
// chunks.
void run_read_bench(const Arguments& arguments);

// Measures CPU lanes on chunks of the filter's sizes that stay in caches: counter mode, and GCM or MGM in
// segments, with one thread and with all threads. First compares the output with the reference lane's.
std::vector<Command::Option> memory_options();
void run_memory_bench(const Arguments& arguments);

// Measures the filter's pipeline with a real session, between a source and a sink that take no time, for each
// choice of lanes and each chunk size. Reports the rate, and how the threads spent their time.
std::vector<Command::Option> pipeline_options();
void run_pipeline_bench(const Arguments& arguments);

// The following need CUDA devices, and skip anything that does not fit into device memory. They are defined
// in cuda/bench or, in a program built without CUDA, in without_cuda.cpp, which refuses them. Their options
// are in bench/cuda_requests.hpp.

// Copies to and from each device, in each direction and in both at once; the same with two, four, ... and all
// devices together; and the properties of each device.
void run_device_bench(const Arguments& arguments);

// Moves chunks from a file to devices and back as lanes do, or does only some of these steps. A row for each
// combination of steps, sizes, and numbers of devices, streams and buffers.
void run_transfer_bench(const Arguments& arguments);

// The throughput of the first device for each operation that kernels need.
void run_limit_bench(const Arguments& arguments);

// A row for each valid combination of kernel, cipher, mode, size and kind of copies. Compares the output of
// each kernel with that of CPU lanes before timing it, as do the next two.
void run_kernel_bench(const Arguments& arguments);

// How much the time of a kernel varies between keys, and between series with the same key: a row for each
// valid combination of kernel, cipher and mode.
void run_key_bench(const Arguments& arguments);

// For each valid combination of kernel and cipher: a row for each shape, with data in device memory, then one
// for each number of streams, with copies and the best shape.
void run_sweep_bench(const Arguments& arguments);

}  // namespace gpuaes
