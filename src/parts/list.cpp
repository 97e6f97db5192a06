#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "parts/commands.hpp"
#include "parts/ends.hpp"

namespace gpuaes {

void run_list(const Options& options, const Messages& messages) {
  RunControl control(messages);
  std::vector<struct stat> files;
  const Ends ends = read_ends(options, files, messages, control.cancel);
  std::string lines;
  for (std::size_t number = 0; number < ends.index.size(); ++number) {
    const IndexEntry& entry = ends.index[number];
    fmt::format_to(std::back_inserter(lines), "{} {} ", number, entry.length);
    for (const std::byte byte : entry.commitment)
      fmt::format_to(std::back_inserter(lines), "{:02x}", std::to_integer<unsigned>(byte));
    lines += '\n';
  }
  print(std::as_bytes(std::span(lines)), STDOUT_FILENO, control.cancel);
}

}  // namespace gpuaes
