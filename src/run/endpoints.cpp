#include "run/endpoints.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "base/texts.hpp"
#include "io/output_file.hpp"
#include "run/file_conflicts.hpp"

namespace gpuaes {
namespace {

std::unique_ptr<Sink> open_output(const Options& options, SinkRules rules, Cancel& cancel) {
  using Terminal = SinkRules::Terminal;
  if (options.test) return std::make_unique<NullSink>(cancel);
  const Terminal unforced = options.decrypt ? Terminal::text : Terminal::nothing;
  rules.terminal = options.force ? Terminal::everything : unforced;
  return open_sink(options.output, rules, cancel);
}

}  // namespace

Endpoints open_endpoints(const Options& options, std::vector<struct stat> secret_files,
                         const Messages& messages, Cancel& cancel) {
  Endpoints endpoints{open_source(options.input, cancel), {}, {}, {}};
  if (options.range && !endpoints.source.size()) throw UsageError(text::no_jump, text::no_jump_hint);
  std::vector<struct stat> in_use = std::move(secret_files);
  in_use.push_back(endpoints.source.status());
  refuse_output_conflicts(options, in_use);
  SinkRules rules{.warn = [&messages](const std::string& text) { messages.warning(text); }};
  endpoints.output = open_output(options, rules, cancel);
  rules.hint = text::another_file_hint;
  if (options.stats) endpoints.stats = open_sink(options.stats, rules, cancel);
  rules.durable = false;
  if (options.trace) endpoints.trace = open_sink(options.trace, rules, cancel);
  say_if_terminal(endpoints.source, messages);
  return endpoints;
}

HeaderReader header_reader(FdSource& source) {
  return HeaderReader([&source](std::span<std::byte> out) { return source.read(out); });
}

void say_if_terminal(const FdSource& source, const Messages& messages) {
  if (source.is_terminal()) messages.note(fmt::format(text::reading_terminal, source.name()));
}

std::optional<std::uint64_t> expected_size(const Options& options, std::uint64_t header_bytes,
                                           std::optional<std::uint64_t> body_bytes) {
  return body_bytes.value_or(0) > 0 ? header_bytes + *body_bytes : options.size;
}

}  // namespace gpuaes
