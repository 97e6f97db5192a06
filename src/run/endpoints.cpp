#include "run/endpoints.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "io/output_file.hpp"
#include "run/file_conflicts.hpp"

namespace gpuaes {

FdSource open_input_file(const Options& options, Cancel& cancel) {
  return with_option(options.input_option, [&] {
    refuse_secret_as_name(options.input());
    return open_source(options.input(), cancel);
  });
}

namespace {

SinkRules output_rules(const Options& options, const Messages& messages) {
  using Terminal = SinkRules::Terminal;
  const Terminal unforced = options.decrypt ? Terminal::text : Terminal::nothing;
  return {.terminal = options.force ? Terminal::everything : unforced,
          .warn = [&messages](const std::string& text) { messages.warning(text); }};
}

Endpoints open_input(const Options& options, Cancel& cancel) {
  if (options.command.empty()) return {{}, open_input_file(options, cancel), {}, {}, {}};
  Command command{options.command, fmt::format("the command '{}'", options.command.front()), true};
  auto process = std::make_unique<ChildProcess>(std::move(command), cancel);
  FdSource source = process->output();
  return {std::move(process), std::move(source), {}, {}, {}};
}

}  // namespace

Endpoints open_endpoints(const Options& options, std::vector<struct stat> secret_files,
                         const Messages& messages, Cancel& cancel) {
  SinkRules rules = output_rules(options, messages);
  Endpoints endpoints = open_input(options, cancel);
  if (options.range && !endpoints.source.size())
    throw UsageError("--range requires a seekable input",
                     "name a file with -i, or redirect standard input from a file");
  std::vector<struct stat> in_use = std::move(secret_files);
  in_use.push_back(endpoints.source.status());

  OutputTargets targets{.output = find_output(options.output)};
  if (options.stats) targets.stats = find_output(options.stats);
  if (options.trace) targets.trace = find_output(options.trace);
  refuse_output_conflicts(options, targets, in_use);

  const auto open = [&](const char* option, const OutputTarget& target) {
    return with_option(option, [&] { return open_sink(target, rules, cancel); });
  };
  endpoints.output = options.test ? std::make_unique<NullSink>(cancel)
                                  : open(options.output ? "--output" : "", targets.output);
  rules.terminal = SinkRules::Terminal::everything;
  rules.hint = "choose another file";
  if (targets.stats) endpoints.stats = open("--stats", *targets.stats);
  rules.durable = false;
  if (targets.trace) endpoints.trace = open("--trace", *targets.trace);
  note_if_terminal(endpoints.source, messages);
  return endpoints;
}

HeaderReader header_reader(FdSource& source) {
  return HeaderReader([&source](std::span<std::byte> out) { return source.read(out); });
}

void note_if_terminal(const FdSource& source, const Messages& messages) {
  if (source.is_terminal())
    messages.note(fmt::format(
        "reading {} from the terminal; press Ctrl-D at the beginning of a line to end it", source.name()));
}

}  // namespace gpuaes
