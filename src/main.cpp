// gpuaes-stream: options to a run.

#include <fmt/ranges.h>

#include "filter.hpp"
#include "info.hpp"
#include "lane/lanes.hpp"
#include "options.hpp"
#include "program.hpp"
#include "rekey.hpp"

namespace gpuaes {
namespace {

void act(const Options& options, Messages& messages) {
  messages.set_level(options.level);
  switch (options.action) {
    case Options::Action::filter:
      return run_filter(options, messages);
    case Options::Action::rekey:
      return run_rekey(options, messages);
    case Options::Action::help:
      return print(help_text());
    case Options::Action::version:
      return print("gpuaes-stream " GPUAES_VERSION "\n");
    case Options::Action::info:
      return print_info(options);
    case Options::Action::list_lanes:
      return print(fmt::format("{}\n", fmt::join(describe_lanes(), "\n")));
  }
}

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-stream", [&](Messages& messages) { act(parse_options(argc, argv), messages); });
}
