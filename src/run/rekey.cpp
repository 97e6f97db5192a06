#include "run/rekey.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"
#include "files/conflicts.hpp"
#include "files/same_file.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "format/parts/directory.hpp"
#include "io/armor.hpp"
#include "io/fd_source_sink.hpp"
#include "io/naming.hpp"
#include "io/output_file.hpp"
#include "run/endpoints.hpp"
#include "run/inputs.hpp"
#include "run/output_names.hpp"
#include "secrets/secret_file.hpp"
#include "secrets/secrets.hpp"
#include "terminal/context.hpp"
#include "terminal/progress.hpp"

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

// For an input that cannot be replaced.
const char* not_replaceable_hint(const InputsRequest& inputs) {
  return inputs.several() ? "" : "name another file with -o";
}

// In place, the sink replaces the input, unless it has changed in the meantime.
SinkRules rules_for(const RekeyRequest& request, const OutputTarget& target, const FdSource& source,
                    const Messages& messages) {
  using Terminal = SinkRules::Terminal;
  const bool as_text = request.output.force || request.format.armor;
  SinkRules rules{.terminal = as_text ? Terminal::everything : Terminal::nothing,
                  .bytes = source.size(),
                  .direct_from = large_output,
                  .warn = messages.warner()};
  if (request.in_place) {
    rules.temp.hint = not_replaceable_hint(request.inputs);
    rules.temp.replaces_read_only = true;
    rules.check = [&target, &source] { check_unchanged(target, source.status()); };
    // The plaintext is the same, so --skip-existing must find the same time.
    rules.complete = [&source](int fd) { set_modification_time(fd, source.status().st_mtim); };
  }
  return rules;
}

const Format& find_rekeyable_format(const Format* named, HeaderReader& input) {
  for (const Format& format : all_formats())
    if (format.rekey != nullptr && (named == nullptr || named == &format) && input.begins_with(format.magic))
      return format;
  refuse_other_format(input, named != nullptr ? named->name : "");
  throw AuthError("the input is not in a format whose keys can be replaced",
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

OutputTarget find_head(const PartsDirectory& input, const std::string& option) {
  OutputTarget head = find_output(head_name, input.directory.descriptor());
  head.name = input.directory.name_of(head_name);
  head.option = option;
  return head;
}

void warn_of_new_slots(const Keyring& keyring, std::span<const KeyKind> old_recipients,
                       std::once_flag& warned_of_keys, const Messages& messages) {
  const bool had_recipient = !old_recipients.empty();
  if (const char* const warning = writer_warning(keyring, had_recipient); warning && had_recipient)
    messages.input_warning(warning);
  else if (warning)
    std::call_once(warned_of_keys, [&] { messages.warning(warning); });
  const auto is_classic = [](KeyKind kind) { return is_asymmetric(kind) && !is_post_quantum(kind); };
  const bool was_classic = std::ranges::any_of(old_recipients, is_classic);
  if (had_recipient && !was_classic && std::ranges::any_of(keyring.keys, is_classic, &Key::kind))
    messages.input_warning(
        "the input was sealed for a post-quantum recipient; the new recipient removes that protection");
  if (was_classic && std::ranges::any_of(keyring.keys, is_post_quantum, &Key::kind))
    messages.input_warning(
        "the input was encrypted for a recipient that is not post-quantum; anyone who kept its old header "
        "can still open it with a quantum computer");
}

// The opened input, and the sink for its new form.
struct Ends {
  InputFile input;
  OutputTarget target;
  std::unique_ptr<Sink> sink{};

  PartsDirectory* directory() { return input.directory ? &*input.directory : nullptr; }
};

// If the old secrets are wrong, a usual cause is that the command was run before.
NewHeader replace_keys(const Format& format, SessionRequest& session, const Keyring& new_keys,
                       bool in_place) {
  try {
    return format.rekey(session, new_keys);
  } catch (KeyError& error) {
    const Advice advice = error.hint().advice;
    if (in_place && (advice == Advice::try_several_keys || advice == Advice::list_slots))
      error.set_hint(
          "if it has been rekeyed before, it may have the new keys already; --test shows whether it does");
    throw;
  }
}

// UsageError for an input that cannot be replaced.
void check_inputs(const RekeyRequest& request) {
  for (const InputRequest& input : request.inputs.named) {
    if (request.inputs.several() && !input.is_named())
      throw UsageError("--rekey cannot replace standard input");
    if (request.in_place) check_replaceable(input.file, not_replaceable_hint(request.inputs));
  }
}

class RekeyRun : public InputRun {
 public:
  RekeyRun(const RekeyRequest& request, Progress& progress, const Context& context)
      : request_(request), progress_(progress), messages_(context.messages) {
    if (!several_)
      target_ = find_target(request.in_place ? request.inputs.first().file : request.output.file);
    check_inputs(request);
    prepare_inputs(files_of(request.old_secrets, request.new_secrets, request.inputs));
    refuse_keys_as_inputs(request.inputs, context.cancel);
    old_keys_ = read_secrets(request.old_secrets, context);
    new_keys_ = read_new_secrets(request.new_secrets, context);
  }

  InputRules rules() const override {
    return {.only_files = request_.in_place,
            .side_by_side = several_ && !old_keys_.has_plugin() && !new_keys_.has_plugin(),
            .extra_bytes = std::max(derivation_bytes(old_keys_), derivation_bytes(new_keys_)),
            .verb = several_ ? "rekeyed" : "",
            .progress = several_ ? &progress_ : nullptr};
  }

  bool leaves_out(const InputRequest& input) override {
    check_replaceable(input.file, not_replaceable_hint(request_.inputs));
    return false;
  }

  InputResult run(const InputRequest& input, const Context& context, bool) override {
    Ends ends{open_input_file(input, true, context.cancel), target_ ? *target_ : find_target(input.file)};
    if (request_.inputs.finds_names())
      refuse_secret_as_input(input.file, ends.input.source.status(), secrets());
    try {
      open_ends(input, ends, context);
    } catch (const UsageError& error) {
      if (!several_) throw;
      throw IoError(error.what(), error.hint());  // which concerns only this input
    }
    write_rekeyed(input, ends, context);
    return {};
  }

  void at_end(const InputCounts&) override { finish(); }

  // Also of a run that is interrupted: who reads the note may delete the old key.
  void finish() const {
    sync_folders();
    if (files_ == 0) return;
    messages_.note(fmt::format("{}: {} before, {} now",
                               files_ > 1 ? fmt::format("{} files", with_commas(files_)) : file_,
                               counted(before_, noun_), with_commas(now_)));
  }

 private:
  // IoError for the first that cannot be synced, after all others.
  void sync_folders() const {
    std::optional<IoError> failure;
    for (const std::filesystem::path& folder : folders_) {
      try {
        sync_folder(folder);
      } catch (const IoError& error) {
        if (!failure) failure = error;
      }
    }
    if (failure) throw *failure;
  }

  NamedInputs secrets() const { return files_of(request_.old_secrets, request_.new_secrets); }

  void open_ends(const InputRequest& input, Ends& ends, const Context& context) {
    if (PartsDirectory* const directory = ends.directory()) {
      check_directory(request_, *directory);
      ends.target = find_head(*directory, input.file.option);
    }
    NamedInputs others = secrets();
    if (!request_.in_place) add_files(others, input);
    refuse_output_conflicts(others, {.output = ends.target},
                            "omit --output to replace the file, or write to another file");
    SinkRules rules = rules_for(request_, ends.target, ends.input.source, context.messages);
    rules.durable_name = !several_ || ends.directory() != nullptr;
    if (!rules.durable_name) add_folder(ends.target);
    ends.sink = open_sink(ends.target, rules, context.cancel);
    note_if_terminal(ends.input.source, context.messages);
  }

  // Writes the input with its new header.
  void write_rekeyed(const InputRequest& request, Ends& ends, const Context& context) {
    const Messages& messages = context.messages;
    const FormatRequest& wanted = request_.format;
    OpenedInput input(ends.input.source, ends.directory(), wanted.named);
    const Format& format = find_rekeyable_format(wanted.named, input.header);
    check_label(format, wanted.label);
    warn_of_ending(request_.output.file, format, messages);
    if (input.is_armored() || wanted.armor) ends.sink = make_armor_sink(format.armor, std::move(ends.sink));
    const NewHeader header = [&] {
      SessionRequest session = make_request(old_keys_.copy(), request, wanted, true, context);
      session.input = &input.header;
      session.index_first = ends.directory() != nullptr;
      return replace_keys(format, session, new_keys_, request_.in_place);
    }();
    warn_of_new_slots(new_keys_, header.old_recipients, warned_of_keys_, messages);
    if (!several_) old_keys_ = {}, new_keys_ = {};
    const bool in_place = request_.in_place;
    if (ends.directory() != nullptr) {
      ends.sink->write(header.bytes);
      ends.sink->close();
    } else if (!copy_body(input, ends, header.bytes, messages) && !in_place) {
      return;  // a header for --header: the old secrets still open the file
    } else if (!in_place && !header.copy_warning.empty()) {
      messages.warning(std::string(header.copy_warning));
    }
    count_slots(in_place ? request.file.name : ends.target.name, header);
  }

  // Copies the body of the input after its new header. False if the input has only a header.
  bool copy_body(OpenedInput& input, Ends& ends, std::span<const std::byte> header,
                 const Messages& messages) {
    FdSource& source = ends.input.source;
    source.begin_here();
    Source& body = input.body();
    if (body.parallel_size() > 0) ends.sink->expect(header.size() + body.parallel_size());
    std::atomic<std::uint64_t> copied = input.header.taken();
    const std::uint64_t rest = input.is_armored() ? 0 : source.size().value_or(0);
    const std::optional<std::uint64_t> size =
        rest > 0 ? std::optional(input.header.taken() + rest) : std::nullopt;
    const Progress::Watch watch(progress_, messages.one_of_several(), size, [&copied] {
      return Progress::Position{copied, {}};
    });
    ends.sink->write(header);
    copy_rest(body, *ends.sink, copied);
    if (const std::string warning = source.modification(); !warning.empty()) messages.warning(warning);
    ends.sink->close();
    return copied > input.header.taken();
  }

  void add_folder(const OutputTarget& target) {
    const std::lock_guard lock(mutex_);
    folders_.insert(directory_of(target.path));
  }

  void count_slots(const std::string& file, const NewHeader& header) {
    const std::lock_guard lock(mutex_);
    noun_ = files_ == 0 || noun_ == header.slot_noun ? header.slot_noun : "slot";
    ++files_;
    file_ = file;
    before_ += header.old_slots;
    now_ += header.new_slots;
  }

  const RekeyRequest& request_;
  const bool several_ = request_.inputs.several();
  Progress& progress_;
  const Messages& messages_;
  std::optional<OutputTarget> target_;  // not set if each input has its own
  Keyring old_keys_, new_keys_;         // wiped once no further input needs them
  std::once_flag warned_of_keys_;

  std::mutex mutex_;                         // guards the members below
  std::set<std::filesystem::path> folders_;  // of replaced files, if there are several inputs
  std::uint64_t files_ = 0, before_ = 0, now_ = 0;
  std::string file_;  // the last one
  std::string_view noun_;
};

}  // namespace

void run_rekey(const RekeyRequest& request, const Messages& messages) {
  RunControl control(messages);
  Progress progress(control.signals, messages, request.progress);
  RekeyRun run(request, progress, control.context);
  try {
    for_each_input(request.inputs, control.context, run);
  } catch (const Cancelled&) {
    run.finish();
    throw;
  }
}

}  // namespace gpuaes
