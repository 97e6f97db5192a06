// gpuaes-parts: seals one file in parts, with several processes, on one host or on many.

#include <variant>

#include "cli/parts_options.hpp"
#include "cli/program.hpp"
#include "io/fd_source_sink.hpp"
#include "parts/commands.hpp"

namespace gpuaes {
namespace {

struct Act {
  const Messages& messages;

  void operator()(const PlanRequest& request) const { run_plan(request, messages); }
  void operator()(const SealRequest& request) const { run_seal(request, messages); }
  void operator()(const StatusRequest& request) const { run_status(request, messages); }
  void operator()(const JoinRequest& request) const { run_join(request, messages); }
  void operator()(const PrintRequest& request) const { print(request.text); }
};

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-parts", [&](Messages& messages) {
    const Parsed<PartsRequest> parsed = parse_parts_options(argc, argv);
    messages.set_level(parsed.level);
    std::visit(Act{messages}, parsed.request);
  });
}
