#include "run/separate_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/subject.hpp"
#include "files/conflicts.hpp"
#include "terminal/context.hpp"

namespace gpuaes {
namespace {

const Format& find_format_with_keys(OpenedInput& input, const Format* named) {
  const Format& format = named != nullptr ? *named : input.format(detect_format);
  if (format.rekey == nullptr)
    throw UsageError(fmt::format("the {} format has no keys that can be replaced", format.name));
  return format;
}

// The bytes that belong to the body, at the end of a header.
std::span<const std::byte> message_bytes(const HeaderReader& header, const Description& description) {
  return header.bytes().last(description.message_bytes);
}

}  // namespace

void export_header(const ExportHeaderRequest& request, const Messages& messages) {
  RunControl control(messages);
  const NamedInputs named = files_of(request.input);
  prepare_inputs(named);
  OutputTargets targets = find_outputs(request.output.file);
  const std::string shown = request.input.is_named() ? request.input.file.name : "";
  name_input(shown, [&] {
    auto [source, directory] = open_input_file(request.input, true, control.cancel);
    refuse_output_conflicts(named, targets);
    if (directory) refuse_outputs_in(directory->directory, targets);
    note_if_terminal(source, messages);
    OpenedInput input(source, nullptr, request.format);
    find_format_with_keys(input, request.format).describe(input.header);
    const SinkRules rules{
        .terminal = request.output.force ? SinkRules::Terminal::everything : SinkRules::Terminal::nothing,
        .bytes = input.header.taken(),
        .warn = messages.warner()};
    const std::unique_ptr<Sink> sink = open_sink(*targets.output, rules, control.cancel);
    sink->write(input.header.bytes());
    sink->close();
  });
}

HeaderReader read_separate_header(const NamedFile& named, const Format& format, OpenedInput& input,
                                  Cancel& cancel) {
  if (format.rekey == nullptr)
    throw UsageError(fmt::format("the {} format does not support --header", format.name),
                     "--header is for sealed files and age files");
  const Description own = format.describe(input.header);
  std::vector<std::byte> bytes;
  FdSource file = named.open(cancel);
  name_input(named.shown(), [&] {
    OpenedInput other(file, nullptr);
    const Format& other_format = other.format(detect_format);
    const Description found = other_format.describe(other.header);
    if (&other_format != &format || found.suite != own.suite ||
        !std::ranges::equal(message_bytes(other.header, found), message_bytes(input.header, own)))
      throw AuthError(
          "the header does not belong to the input: one of the two is of another file, or damaged; nothing "
          "was "
          "written");
    append(bytes, other.header.bytes());
  });
  const std::uint64_t first = input.header.taken() - bytes.size();
  auto read = [&input, kept = std::move(bytes), at = std::size_t{0}](std::span<std::byte> out) mutable {
    std::span<const std::byte> rest = std::span(kept).subspan(at);
    if (!rest.empty()) {
      const std::size_t count = take_into(out, rest);
      at += count;
      return count;
    }
    const std::size_t count = input.header.peek(out.size()).size();
    input.header.take(out.first(count));
    return count;
  };
  return HeaderReader(std::move(read), first);
}

}  // namespace gpuaes
