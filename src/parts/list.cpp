#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "base/bytes.hpp"
#include "cli/program.hpp"
#include "parts/commands.hpp"
#include "parts/ends.hpp"

namespace gpuaes {

void run_list(const Options& options, const Messages& messages) {
  RunControl control(messages);
  const Ends ends = read_ends(options, messages, control.cancel);
  std::string lines;
  for (std::size_t number = 0; number < ends.index.size(); ++number) {
    const IndexEntry& entry = ends.index[number];
    lines += fmt::format("{} {} {}\n", number, entry.length, to_hex(entry.commitment));
  }
  print(std::as_bytes(std::span(lines)), STDOUT_FILENO, control.cancel);
}

}  // namespace gpuaes
