#include "run/rekey.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command_line.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "format/parts/directory.hpp"
#include "io/armor.hpp"
#include "io/fd_source_sink.hpp"
#include "io/output_file.hpp"
#include "run/endpoints.hpp"
#include "run/file_conflicts.hpp"
#include "run/inputs.hpp"
#include "run/secrets.hpp"

namespace gpuaes {
namespace {

// Do not lose another program's changes. If `name` is a symbolic link that has changed, do not write the
// first target's contents to the second.
void check_unchanged(const OutputTarget& target, const struct stat& before) {
  struct stat now {};
  if (fstatat(target.directory, target.path.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0)
    throw io_error("cannot stat", target.name, errno);
  // Not st_mtim, which the program that changed the file may have reset.
  const bool same_time = is_same_time(now.st_ctim, before.st_ctim);
  if (!is_same_file(now, before) || now.st_size != before.st_size || !same_time)
    throw IoError(fmt::format("{} changed while it was being read", target.name),
                  "the file was not replaced; run the command again");
}

// In place, the sink replaces the input, unless it has changed in the meantime.
SinkRules output_rules(const RekeyRequest& request, const OutputTarget& target, const FdSource& source,
                       const Messages& messages) {
  using Terminal = SinkRules::Terminal;
  const bool as_text = request.output.force || request.format.armor;
  SinkRules rules{.terminal = as_text ? Terminal::everything : Terminal::nothing,
                  .bytes = source.size(),
                  .direct_from = large_output,
                  .warn = [&messages](const std::string& text) { messages.warning(text); }};
  if (request.in_place) {
    rules.temp.hint = not_replaceable_hint;
    rules.check = [&target, &source] { check_unchanged(target, source.status()); };
  }
  return rules;
}

const Format& find_rekeyable_format(const std::optional<std::string>& named, HeaderReader& input) {
  for (const Format& format : all_formats())
    if (format.rekey != nullptr && named.value_or(std::string(format.name)) == format.name &&
        input.begins_with(format.magic))
      return format;
  refuse_other_format(input, named.value_or(""));
  throw AuthError("the input is in no format whose keys can be replaced",
                  "--rekey replaces the keys of sealed files and age files");
}

// Only the head is replaced; the index shows that the file is complete.
void check_directory(const RekeyRequest& request, const PartsDirectory& input) {
  input.directory.require_private();
  if (!request.in_place || request.format.armor)
    throw UsageError(
        fmt::format("{} is a directory, where --rekey replaces only the head", input.directory.name()),
        "omit --output and --armor");
}

OutputTarget find_head(const PartsDirectory& input) {
  OutputTarget head = find_output(head_name, input.directory.descriptor());
  head.name = input.directory.name_of(head_name);
  return head;
}

void warn_of_new_slots(const Keyring& keyring, std::span<const KeyKind> old_recipients,
                       const Messages& messages) {
  if (const char* const warning = writer_warning(keyring, !old_recipients.empty())) messages.warning(warning);
  const auto is_classic = [](KeyKind kind) { return is_asymmetric(kind) && !is_post_quantum(kind); };
  const bool was_classic = std::ranges::any_of(old_recipients, is_classic);
  const bool was_post_quantum = !old_recipients.empty() && !was_classic;
  if (was_post_quantum && std::ranges::any_of(keyring.keys, is_classic, &Key::kind))
    messages.warning(
        "the input was sealed for a post-quantum recipient; the new recipient removes that protection");
  if (was_classic && std::ranges::any_of(keyring.keys, is_post_quantum, &Key::kind))
    messages.warning(
        "the input was encrypted for a recipient that is not post-quantum; anyone who kept its old header "
        "can still open it with a quantum computer");
}

// "1 passphrase slot and 2 X25519 recipient slots"; only their number if there are many kinds.
std::string count_kinds(const std::vector<SlotDescription>& slots, std::string_view noun) {
  constexpr std::size_t max_kinds = 8;
  std::vector<std::string> kinds, counts;
  for (const SlotDescription& slot : slots) kinds.push_back(shortened(slot.kind));
  for (const auto& [kind, indices] : group_by_name(kinds))
    counts.push_back(counted(indices.size(), fmt::format("{} {}", kind, noun)));
  return !counts.empty() && counts.size() <= max_kinds ? join(counts, "and") : counted(slots.size(), noun);
}

void note_removed(const std::string& file, const NewHeader& header, const Messages& messages) {
  if (header.removed.empty()) return;
  const std::string_view noun = header.now.slot_noun;
  messages.note(fmt::format("{}: removed {}; the file now has {}", file, count_kinds(header.removed, noun),
                            count_kinds(header.now.slots, noun)));
  messages.note(
      "secrets that were not given again no longer open the file, but anyone who had one may have kept the "
      "data key");
}

void rekey(const RekeyRequest& request, const Messages& messages) {
  RunControl control(messages);
  Cancel& cancel = control.cancel;
  Progress progress(control.signals, messages, request.progress);
  const bool in_place = request.in_place;
  OutputTarget target = find_output(in_place ? request.input.name : request.output.name);
  if (in_place) check_replaceable(request.input.name);
  NamedInputs named;
  const NamedInputs secrets = named.add(request.old_secrets).add(request.new_secrets);
  prepare_inputs(named.add(request.input));
  Keyring old_keys = read_secrets(request.old_secrets, request.input, messages, cancel);
  const Keyring new_keys = read_new_secrets(request.new_secrets, messages, cancel);
  InputFile opened_input = open_input_file(request.input, cancel);
  FdSource& source = opened_input.source;
  PartsDirectory* const directory = opened_input.directory ? &*opened_input.directory : nullptr;
  if (directory != nullptr) {
    check_directory(request, *directory);
    target = find_head(*directory);
  }
  refuse_output_conflicts(in_place ? secrets : named,
                          {.output = target, .shown = request.output.name ? "--output" : target.name},
                          "omit --output to replace the file, or write to another file");
  const char* const output_option = in_place ? request.input.option : request.output.name ? "--output" : "";
  std::unique_ptr<Sink> sink = with_option(output_option, [&] {
    return open_sink(target, output_rules(request, target, source, messages), cancel);
  });
  note_if_terminal(source, messages);

  OpenedInput input(source, directory, request.format.name);
  const bool armored = input.is_armored();
  const Format& format = find_rekeyable_format(request.format.name, input.header);
  check_label(format, request.format.label);
  if (armored || request.format.armor) sink = make_armor_sink(format.armor, std::move(sink));
  SessionRequest session =
      make_request(std::move(old_keys), request.input, request.format, true, messages, cancel);
  session.input = &input.header;
  session.index_first = directory != nullptr;
  const NewHeader header = format.rekey(session, new_keys);
  warn_of_new_slots(new_keys, header.old_recipients, messages);
  if (!in_place && !header.copy_warning.empty()) messages.warning(std::string(header.copy_warning));
  const std::string changed_file = in_place ? request.input.name : target.name;
  if (directory != nullptr) {
    sink->write(header.bytes);
    sink->close();
    return note_removed(changed_file, header, messages);
  }
  source.begin_here();
  Source& body = input.body();
  if (body.parallel_size() > 0) sink->expect(header.bytes.size() + body.parallel_size());
  std::atomic<std::uint64_t> copied = input.header.taken();
  const std::uint64_t rest = armored ? 0 : source.size().value_or(0);
  const std::optional<std::uint64_t> size =
      rest > 0 ? std::optional(input.header.taken() + rest) : request.input.size;
  const Progress::Watch watch(progress, messages.one_of_several(), size, [&copied] {
    return Progress::Position{copied, {}};
  });
  sink->write(header.bytes);
  copy_rest(body, *sink, copied);
  if (const std::string warning = source.modification(); !warning.empty()) messages.warning(warning);
  sink->close();
  note_removed(changed_file, header, messages);
}

}  // namespace

void run_rekey(const RekeyRequest& request, const Messages& messages) {
  name_input(request.input.is_named() ? request.input.name : "", [&] { rekey(request, messages); });
}

}  // namespace gpuaes
