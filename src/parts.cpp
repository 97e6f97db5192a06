// gpuaes-parts: seals one file in parts, with several processes, on one host or on many.

#include "cli/parts_options.hpp"
#include "cli/program.hpp"
#include "cli/version.hpp"
#include "parts/commands.hpp"

namespace gpuaes {
namespace {

void act(const PartsOptions& line, const Messages& messages) {
  switch (line.action) {
    case PartsOptions::Action::plan:
      return run_plan(line.options, messages);
    case PartsOptions::Action::seal:
      return run_seal(line.options, messages);
    case PartsOptions::Action::status:
      return run_status(line.options, messages);
    case PartsOptions::Action::join:
      return run_join(line.options, messages);
    case PartsOptions::Action::completions:
      return print(parts_completions(line.options.shell));
    case PartsOptions::Action::help:
      return print(line.help);
    case PartsOptions::Action::version:
      return print(version_text("gpuaes-parts"));
  }
}

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-parts", [&](Messages& messages) {
    const PartsOptions line = parse_parts_options(argc, argv);
    messages.set_level(line.options.level);
    act(line, messages);
  });
}
