// gpuaes-stream: parses the options and runs the requested action.

#include <fmt/ranges.h>

#include <string>

#include "cli/options.hpp"
#include "cli/program.hpp"
#include "cli/version.hpp"
#include "lane/backends.hpp"
#include "run/filter.hpp"
#include "run/info.hpp"
#include "run/inputs.hpp"
#include "run/rekey.hpp"

namespace gpuaes {
namespace {

void list_lanes(const Messages& messages) {
  print(fmt::format("{}\n", fmt::join(describe_lanes(), "\n")));
  if (const std::string reason = reason_for_no_cuda_device(); !reason.empty()) messages.warning(reason);
}

void act(const Options& options, Messages& messages) {
  switch (options.action) {
    case Options::Action::filter:
      return run_filter(options, messages);
    case Options::Action::rekey:
      return run_rekey(options, messages);
    case Options::Action::completions:
      return print(completions(options.shell));
    case Options::Action::help:
      return print(help_text());
    case Options::Action::version:
      return print(version_text("gpuaes-stream"));
    case Options::Action::info:
      return print_info(options, messages);
    case Options::Action::list_lanes:
      return list_lanes(messages);
  }
}

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-stream", [&](Messages& messages) {
    const Options options = parse_options(argc, argv);
    messages.set_level(options.level);
    name_input(options.names_input() ? options.input() : "", [&] { act(options, messages); });
  });
}
