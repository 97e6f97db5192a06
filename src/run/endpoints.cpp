#include "run/endpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "cli/command_line.hpp"
#include "format/sealed.hpp"
#include "io/armor.hpp"

namespace gpuaes {

InputFile open_input_file(const Options& options, Cancel& cancel) {
  return with_option(options.input_option, [&]() -> InputFile {
    refuse_secret_as_name(options.input());
    const auto status = status_of(options.input());
    if (!status || !S_ISDIR(status->st_mode)) return {open_source(options.input(), cancel)};
    if (!options.decrypt && options.action == Options::Action::filter)
      throw IoError(fmt::format("{} is a directory", shown_name(options.input())),
                    "to encrypt a directory, run gpuaes-stream ... -- tar -c DIR");
    if (options.input() == standard_name)
      throw IoError("standard input is a directory", "name it as an argument");
    PartsDirectory directory = open_parts_directory(options.input(), cancel);
    FdSource head = open_needed(directory.directory, head_name, cancel);
    return {std::move(head), std::move(directory)};
  });
}

namespace {

SinkRules output_rules(const Options& options, const Messages& messages) {
  using Terminal = SinkRules::Terminal;
  const Terminal unforced = options.decrypt ? Terminal::text : Terminal::nothing;
  return {.terminal = options.force || options.armor ? Terminal::everything : unforced,
          .sparse = options.sparse,
          .warn = [&messages](const std::string& text) { messages.warning(text); }};
}

// The format whose armor the input begins with, perhaps after white space; or null. Waits for no more input
// than the detection of formats does, unless there is white space.
const Format* find_armored_format(HeaderReader& input) {
  constexpr std::size_t begin_bytes = sealed_magic.size();  // of a BEGIN line: enough to tell formats apart
  for (std::size_t margin = 0; margin <= max_armor_margin;) {
    const std::span<const std::byte> begin = input.peek(margin + begin_bytes);
    std::string_view text = as_text(begin);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    for (const Format& format : all_formats())
      if (!format.armor.empty() && text.starts_with(armor_begin(format.armor).substr(0, begin_bytes)))
        return &format;
    if (begin.size() - text.size() == margin) return nullptr;
    margin = begin.size() - text.size();
  }
  return nullptr;
}

Endpoints open_input(const Options& options, Cancel& cancel) {
  if (options.command.empty()) {
    InputFile input = open_input_file(options, cancel);
    return {.source = std::move(input.source), .directory = std::move(input.directory)};
  }
  Command command{options.command, fmt::format("the command '{}'", options.command.front()),
                  Command::Input::inherited};
  auto process = std::make_unique<ChildProcess>(std::move(command), cancel);
  FdSource source = process->output();
  return {.command = std::move(process), .source = std::move(source)};
}

}  // namespace

Endpoints open_endpoints(const Options& options, const OutputTargets& targets, const Messages& messages,
                         Cancel& cancel) {
  return open_endpoints(options, targets, output_rules(options, messages), messages, cancel);
}

Endpoints open_endpoints(const Options& options, const OutputTargets& targets, SinkRules rules,
                         const Messages& messages, Cancel& cancel) {
  Endpoints endpoints = open_input(options, cancel);
  rules.bytes = endpoints.source.size();
  if (options.selection && !endpoints.source.size())
    throw UsageError(fmt::format("{} requires a seekable input", option_for(*options.selection)),
                     "name a file with -i, or redirect standard input from a file");
  refuse_output_conflicts(options, targets);

  const auto open = [&](const char* option, const OutputTarget& target, const SinkRules& its_rules) {
    return with_option(option, [&] { return open_sink(target, its_rules, cancel); });
  };
  if (options.test) {
    endpoints.output = std::make_unique<NullSink>(cancel);
  } else if (options.into) {
    auto shared = std::make_unique<SharedOutput>(
        *options.into, cancel, [&messages](const std::string& text) { messages.note(text); });
    endpoints.shared = shared.get();
    endpoints.output = std::move(shared);
  } else {
    endpoints.output = open(options.output ? "--output" : "", targets.output, rules);
  }
  if (targets.stats) endpoints.stats = open("--stats", *targets.stats, report_rules(messages));
  if (targets.trace) endpoints.trace = open("--trace", *targets.trace, report_rules(messages, false));
  note_if_terminal(endpoints.source, messages);
  return endpoints;
}

SinkRules report_rules(const Messages& messages, bool durable) {
  return {.durable = durable,
          .bytes = 0,
          .temp = {.hint = "choose another file"},
          .keep = false,
          .warn = [&messages](const std::string& text) { messages.warning(text); }};
}

HeaderReader header_reader(Source& source, PartsDirectory* directory) {
  return HeaderReader([&source, directory](std::span<std::byte> out) {
    const std::size_t count = source.read(out);
    return count > 0 || directory == nullptr ? count : directory->index.read(out);
  });
}

std::optional<Armor> find_armor(const std::optional<std::string>& named, Source& source,
                                HeaderReader& input) {
  if (named && find_format(*named).armor.empty()) return std::nullopt;
  const Format* const format = find_armored_format(input);
  if (format == nullptr || (named && *named != format->name)) return std::nullopt;
  Armor armor{std::make_unique<ArmorSource>(format->armor, source, input.peeked()), format};
  input = header_reader(*armor.source);
  return armor;
}

void note_if_terminal(const FdSource& source, const Messages& messages) {
  if (source.is_terminal())
    messages.note(fmt::format(
        "reading {} from the terminal; press Ctrl-D at the beginning of a line to end it", source.name()));
}

}  // namespace gpuaes
