// gpuaes-stream: parses the options and does what they request.

#include <fmt/ranges.h>

#include <string>
#include <variant>

#include "cli/options.hpp"
#include "cli/program.hpp"
#include "io/fd_source_sink.hpp"
#include "lane/backends.hpp"
#include "run/filter.hpp"
#include "run/info.hpp"
#include "run/rekey.hpp"
#include "run/separate_header.hpp"

namespace gpuaes {
namespace {

struct Act {
  Messages& messages;

  void operator()(const FilterRequest& request) const { run_filter(request, messages); }
  void operator()(const InfoRequest& request) const { print_info(request, messages); }
  void operator()(const ExportHeaderRequest& request) const { export_header(request, messages); }
  void operator()(const RekeyRequest& request) const { run_rekey(request, messages); }
  void operator()(const PrintRequest& request) const { print(request.text); }
  void operator()(const ListLanesRequest&) const {
    print(fmt::format("{}\n", fmt::join(describe_lanes(), "\n")));
    if (const std::string reason = reason_for_no_cuda_device(); !reason.empty()) messages.warning(reason);
  }
};

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-stream", [&](Messages& messages) {
    const Parsed<Request> parsed = parse_options(argc, argv);
    messages.set_level(parsed.level);
    if (!parsed.note.empty()) messages.note(parsed.note);
    std::visit(Act{messages}, parsed.request);
  });
}
