#include "bench/limit_bench.hpp"

#include "base/error.hpp"
#include "bench/data.hpp"

namespace gpuaes::cuda {

std::vector<Column> limit_columns() {
  return {{"what", 44}, {"value", 9, 4}, {"unit", 7}};
}

void run_limit_bench(Report& report) {
  const DeviceLimits limits = BenchData(BenchData::least).limits();
  const auto add = [&](const char* what, double rate, const char* unit) {
    report.add({what, rate / 1e12, unit});
  };
  add("device memory, read and written", limits.memory_bytes, "TB/s");
  add("logic of three words", limits.logic, "10^12/s");
  add("multiplications of two words to two", limits.multiplications, "10^12/s");
  add("words from lane to lane", limits.shuffles, "10^12/s");
  add("words of shared memory, a bank for each lane", limits.loads_of_own_bank, "10^12/s");
  add("words of shared memory, any of 256", limits.loads_of_256_words, "10^12/s");
  add("bytes of shared memory, any of 256", limits.loads_of_256_bytes, "10^12/s");
  add("16 bytes of shared memory, any of 256", limits.loads_of_256_blocks, "10^12/s");
}

}  // namespace gpuaes::cuda
