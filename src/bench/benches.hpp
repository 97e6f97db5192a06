// The benches of gpuaes-bench, a function for each command. bench/main.cpp lists them, and says how to add
// one.
//
// Each parses its arguments, then measures and reports row by row. UsageError, IoError; LaneError where a
// lane or a kernel fails, or where its output differs from the reference's.
#pragma once

#include <vector>

#include "bench/command.hpp"

namespace gpuaes {

// What a pipe costs: copies standard input to standard output with the filter's own source, sink and pipe
// sizes, and one buffer between them.
void run_copy_bench(const Arguments& arguments);

// What limits a filter whose lanes read for themselves: threads that only read standard input, a regular file
// or a block device, from its offset to its end. Each takes the next range of the file, and the buffer that
// was filled longest ago, as lanes take ranges and chunks.
void run_read_bench(const Arguments& arguments);

// What the CPU lanes would do if it cost nothing to move bytes: counter mode, and GCM or MGM in segments, on
// chunks of the filter's sizes, by one thread and by as many at once as were asked for. Compares the output
// with the reference lane's before it times anything.
std::vector<Command::Option> memory_options();
void run_memory_bench(const Arguments& arguments);

// What lanes and the ring between them cost: the filter's pipeline with a real session, between a source and
// a sink that cost nothing, for each kind of lanes and each size of chunks. Reports what it moved, and where
// the time of its threads went.
std::vector<Command::Option> pipeline_options();
void run_pipeline_bench(const Arguments& arguments);

// The rest measures CUDA devices, and skips what a device has no room for. Defined in cuda/bench; where CUDA
// was not built in, without_cuda.cpp refuses. The options are in bench/cuda_requests.hpp.

// What each device moves in each direction alone and in both at once, what two, four, ... and all devices
// move together, and what each device is.
void run_device_bench(const Arguments& arguments);

// What the first device does at most of each operation that kernels need.
void run_limit_bench(const Arguments& arguments);

// A row for each kernel, cipher, mode, size and kind of copies that goes together. Compares the output of
// each kernel with that of the CPU lanes before it is timed; so do the next two.
void run_kernel_bench(const Arguments& arguments);

// How much the times with different keys differ, and those of as many series with one key: a row for each
// kernel, cipher and mode that goes together.
void run_key_bench(const Arguments& arguments);

// For each kernel and cipher that go together: a row for each shape, with data that stays on the device, then
// one for each number of streams, with copies and the best shape.
void run_sweep_bench(const Arguments& arguments);

}  // namespace gpuaes
