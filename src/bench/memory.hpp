// libcrypto in memory: what the CPU lanes would make if bytes cost nothing to move.
#pragma once

#include "bench/report.hpp"

namespace gpuaes {

// AES-256, counter mode and GCM in segments, on the filter's own CPU lane and with chunks of the filter's
// sizes: reports the rates of one thread and of `threads` at once. Before it times anything it compares the
// output with the reference lane's; a difference is an Error.
void run_memory_bench(unsigned threads, ReportForm form);

}  // namespace gpuaes
