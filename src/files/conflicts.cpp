#include "files/conflicts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "files/same_file.hpp"
#include "io/fd.hpp"
#include "io/naming.hpp"
#include "process/child_process.hpp"
#include "terminal/prompt.hpp"

namespace gpuaes {
namespace {

struct Input {
  NamedInput named;
  struct stat status;

  bool is_standard() const { return named.file.is_standard(); }
  bool is_data() const { return named.file.kind == NamedFile::Kind::data; }
  bool is_named_data() const { return is_data() && !is_standard(); }

  // Whether bytes read from this input are lost to other inputs.
  bool consumes() const { return !is_data() && is_standard(); }

  std::string shown() const { return is_named_data() ? named.file.name : named.what; }
};

// Those that exist now. Data is last, as are_in_conflict() requires.
std::vector<Input> find_inputs(const NamedInputs& inputs) {
  std::vector<Input> found;
  for (const NamedInput& named : inputs.list())
    if (const auto status = named.file.status()) found.push_back({named, *status});
  return found;
}

bool is_pipe(const struct stat& file) {
  return S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode);
}

// Whether both are the same pipe, socket or terminal: bytes read from one are lost to the other.
bool is_same_stream(const struct stat& a, const struct stat& b) {
  const auto is_stream = [](const struct stat& file) { return is_pipe(file) || S_ISCHR(file.st_mode); };
  return is_stream(a) && is_stream(b) && is_same_inode(a, b);
}

bool are_in_conflict(const Input& a, const Input& b) {
  if (is_same_stream(a.status, b.status)) return true;
  const bool takes_data = a.named.file.kind == NamedFile::Kind::secret && b.is_data();
  const bool twice = a.is_standard() && b.is_standard();
  return is_same_file(a.status, b.status) && (takes_data || twice || a.consumes() || b.consumes());
}

// No data that follows a file of data is in conflict with it: there may be many such files.
void refuse_shared_inputs(const std::vector<Input>& inputs, bool only_from_files) {
  const auto is_file_of_data = [&](const Input& input) {
    return input.is_named_data() && (only_from_files || S_ISREG(input.status.st_mode));
  };
  for (auto a = inputs.begin(); a != inputs.end(); ++a)
    for (auto b = a + 1; b != inputs.end() && !is_file_of_data(*a); ++b)
      if (are_in_conflict(*a, *b))
        throw UsageError(fmt::format("{} and {} are both read from {}", a->named.what, b->named.what,
                                     (b->is_standard() ? b : a)->named.file.shown()),
                         "use a different file for one of them");
}

std::vector<const OutputTarget*> targets_in(const OutputTargets& targets) {
  std::vector<const OutputTarget*> all;
  for (const auto* const target : {&targets.output, &targets.stats, &targets.trace, &targets.receipt})
    if (*target) all.push_back(&**target);
  return all;
}

void refuse_same_outputs(const std::vector<const OutputTarget*>& targets) {
  for (auto b = targets.begin(); b != targets.end(); ++b)
    for (auto a = targets.begin(); a != b; ++a)
      if (is_same_output(**b, **a))
        throw UsageError(fmt::format("{} and {} are the same file", (*b)->shown(), (*a)->shown()));
}

}  // namespace

void NamedInputs::add(const NamedFile& file) {
  using Kind = NamedFile::Kind;
  const bool is_first = list_.empty() || list_.back().file.kind != Kind::data;
  list_.push_back({file.kind != Kind::data ? file.option : is_first ? "the input" : "another input", file});
}

void check_replaceable(const NamedFile& file, const char* hint) {
  const std::string& name = file.name;
  const OutputTarget target = find_output(name);
  if (!target.status) return;
  if (S_ISDIR(target.status->st_mode)) return;  // a sealed file in parts
  if (!S_ISREG(target.status->st_mode))
    throw UsageError(fmt::format("{} is not a regular file and cannot be replaced", name), hint);
  if (target.standard_descriptor)
    throw UsageError(fmt::format("{} is also standard output or standard error and cannot be replaced", name),
                     hint);
}

void refuse_secret_as_input(const NamedFile& input, const struct stat& opened, NamedInputs secrets) {
  std::vector<Input> inputs = find_inputs(secrets);
  secrets.add(input);
  inputs.push_back({secrets.list().back(), opened});
  try {
    refuse_shared_inputs(inputs, true);
  } catch (const UsageError& error) {
    throw IoError(error.what(), error.hint());
  }
}

void prepare_inputs(const NamedInputs& named, bool only_from_files) {
  for (const NamedInput& each : named.list())
    each.file.in_context([&] { refuse_secret_as_name(each.file.name); });
  const std::vector<Input> inputs = find_inputs(named);
  refuse_shared_inputs(inputs, only_from_files);
  for (const Input& input : inputs)
    if (!input.is_data()) close_in_children(input.status);
  const std::optional<struct stat> standard = NamedFile{}.status();
  const auto is_standard = [&](const Input& input) {
    return standard && is_same_inode(input.status, *standard);
  };
  ask_on_standard_input(!named.has_command() && std::ranges::none_of(inputs, is_standard));
}

bool is_same_output(const OutputTarget& a, const OutputTarget& b) {
  const bool exist = a.status && b.status;
  if (exist && is_pipe(*a.status)) return is_same_stream(*a.status, *b.status);
  if (b.path.empty()) return exist && is_same_file(*a.status, *b.status);
  if ((a.status && !S_ISREG(a.status->st_mode)) || a.directory != b.directory) return false;
  const std::filesystem::path path = canonical_path(a.path);
  return !path.empty() && path == canonical_path(b.path);
}

OutputTarget find_target(const std::optional<NamedFile>& file) {
  OutputTarget target = find_output(file ? std::optional(file->name) : std::nullopt);
  if (file) target.option = file->option;
  return target;
}

OutputTargets find_outputs(const std::optional<NamedFile>& output, const std::optional<NamedFile>& stats,
                           const std::optional<NamedFile>& trace) {
  OutputTargets targets{.output = find_target(output)};
  if (stats) targets.stats = find_target(stats);
  if (trace) targets.trace = find_target(trace);
  return targets;
}

void refuse_output_conflicts(const NamedInputs& named, const OutputTargets& targets, const char* data_hint) {
  const std::vector<Input> inputs = find_inputs(named);
  const std::vector<const OutputTarget*> outputs = targets_in(targets);
  refuse_same_outputs(outputs);
  for (const OutputTarget* const target : outputs) {
    const std::optional<struct stat> now =
        status_of(target->path.string(), target->directory);  // to be replaced
    const auto is_target = [&](const struct stat& file) {
      return (target->status && is_same_file(file, *target->status)) || (now && is_same_file(file, *now));
    };
    for (const Input& input : inputs)
      if (is_target(input.status))
        throw UsageError(fmt::format("{} and {} are the same file", input.shown(), target->shown()),
                         input.is_data() ? data_hint : "write to another file");
  }
}

void refuse_outputs_in(const Directory& directory, const OutputTargets& targets) {
  struct stat there {};
  const std::optional<struct stat> here = directory.status_of(".");
  for (const OutputTarget* const target : targets_in(targets))
    if (!target->path.empty() && stat(directory_of(target->path).c_str(), &there) == 0 &&
        is_same_inode(there, *here))
      throw UsageError(fmt::format("{} is in {}", target->shown(), directory.name()),
                       "write to another directory");
}

}  // namespace gpuaes
