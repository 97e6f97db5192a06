// Reading a file in parallel and nothing else: what holds a filter whose lanes read for themselves.
#pragma once

#include <cstddef>

#include "bench/report.hpp"

namespace gpuaes {

// Reads standard input, a regular file or a block device, from where it stands to its end, and reports the
// rate. Each of `threads` takes the next `call_bytes` of it, and of `buffers` (at least as many as threads)
// the one that was filled longest ago, as lanes take ranges and chunks. IoError.
void run_read_bench(unsigned threads, std::size_t call_bytes, std::size_t buffers, ReportForm form);

}  // namespace gpuaes
