#include "bench/copy.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include "io/fd.hpp"
#include "io/output_file.hpp"

namespace gpuaes {

void run_copy(std::size_t buffer_bytes) {
  Cancel cancel;
  FdSource source = open_source(std::string(standard_name), cancel);
  const std::unique_ptr<Sink> sink = open_sink(std::nullopt, {}, cancel);
  std::vector<std::byte> buffer(buffer_bytes);
  while (const std::size_t count = source.read(buffer)) sink->write(std::span(buffer).first(count));
  sink->finish();
}

}  // namespace gpuaes
