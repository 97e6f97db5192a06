#include "run/file_conflicts.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "io/fd_source_sink.hpp"
#include "keys/recipient.hpp"
#include "process/child_process.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

struct Input {
  enum class Kind { secret, data, other };

  std::string_view what;
  std::string name;
  Kind kind;
  struct stat status;

  // Whether bytes read from this input are lost to other inputs.
  bool consumes() const { return kind != Kind::data && name == standard_name; }

  std::string shown() const { return kind == Kind::data && name != standard_name ? name : std::string(what); }
};

// Data is last, as are_in_conflict() requires.
std::vector<Input> find_inputs(const Options& options) {
  using Kind = Input::Kind;
  std::vector<Input> inputs;
  const auto add = [&inputs](std::string_view what, const std::string& name, Kind kind) {
    if (const auto status = status_of(name)) inputs.push_back({what, name, kind, *status});
  };
  for (const SecretOptions& named : {options.secrets, options.new_secrets}) {
    for (const std::string& name : named.key_files) add(named.key_option, name, Kind::secret);
    if (named.passphrase_file) add(named.file_option, *named.passphrase_file, Kind::secret);
  }
  for (const std::string& each : options.recipients)
    if (each.starts_with('@')) add("--recipients-file", each.substr(1), Kind::other);
  if (!options.command.empty()) return inputs;
  for (const std::string& name : options.inputs)
    add(&name == &options.inputs.front() ? "the input" : "another input", name, Kind::data);
  return inputs;
}

// A program that has the old file open would keep writing to it after it has been replaced.
void check_replaceable(const std::string& name) {
  const OutputTarget target = find_output(name);
  if (!target.status) return;
  if (S_ISDIR(target.status->st_mode)) return;  // a sealed file in parts
  if (!S_ISREG(target.status->st_mode))
    throw UsageError(fmt::format("{} is not a regular file and cannot be replaced", name),
                     not_replaceable_hint);
  if (target.standard_descriptor)
    throw UsageError(fmt::format("{} is also standard output or standard error and cannot be replaced", name),
                     not_replaceable_hint);
}

bool is_pipe(const struct stat& file) {
  return S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode);
}

// Whether both are the same pipe, socket or terminal: bytes read from one are lost to the other.
bool is_same_stream(const struct stat& a, const struct stat& b) {
  const auto is_stream = [](const struct stat& file) { return is_pipe(file) || S_ISCHR(file.st_mode); };
  return is_stream(a) && is_stream(b) && is_same_inode(a, b);
}

// The canonical absolute path; empty if it cannot be determined.
fs::path canonical_path(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? fs::path() : fs::weakly_canonical(absolute, error);
}

bool are_in_conflict(const Input& a, const Input& b) {
  if (is_same_stream(a.status, b.status)) return true;
  const bool takes_data = a.kind == Input::Kind::secret && b.kind == Input::Kind::data;
  const bool twice = a.name == standard_name && b.name == standard_name;
  return is_same_file(a.status, b.status) && (takes_data || twice || a.consumes() || b.consumes());
}

using NamedTargets = std::vector<std::pair<std::string, const OutputTarget*>>;

NamedTargets find_targets(const Options& options, const OutputTargets& targets) {
  NamedTargets outputs{{options.output ? "--output" : targets.output.name, &targets.output}};
  const auto add = [&outputs](const char* option, const std::optional<OutputTarget>& target) {
    if (!target) return;
    for (const auto& [other_name, other] : outputs)
      if (is_same_output(*target, *other))
        throw UsageError(fmt::format("{} and {} are the same file", option, other_name));
    outputs.emplace_back(option, &*target);
  };
  add("--stats", targets.stats);
  add("--trace", targets.trace);
  add("--receipt", targets.receipt);
  return outputs;
}

}  // namespace

void refuse_input_conflicts(const Options& options) {
  if (options.in_place) check_replaceable(options.input());
  const std::vector<Input> inputs = find_inputs(options);
  for (auto a = inputs.begin(); a != inputs.end(); ++a)
    for (auto b = a + 1; b != inputs.end(); ++b)
      if (are_in_conflict(*a, *b))
        throw UsageError(fmt::format("{} and {} are both read from {}", a->what, b->what,
                                     shown_name(b->name == standard_name ? b->name : a->name)),
                         "use a different file for one of them");
}

void close_secrets_in_children(const Options& options) {
  for (const Input& input : find_inputs(options))
    if (input.kind != Input::Kind::data) close_in_children(input.status);
}

bool uses_standard_input(const Options& options) {
  const std::optional<struct stat> standard = status_of(std::string(standard_name));
  const auto is_standard = [&](const Input& input) {
    return standard && is_same_inode(input.status, *standard);
  };
  return !options.command.empty() || std::ranges::any_of(find_inputs(options), is_standard);
}

std::optional<struct stat> status_of(const std::string& name) {
  struct stat status {};
  const int result = name == standard_name ? fstat(STDIN_FILENO, &status) : stat(name.c_str(), &status);
  return result == 0 ? std::optional(status) : std::nullopt;
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  if (S_ISBLK(a.st_mode) && S_ISBLK(b.st_mode)) return a.st_rdev == b.st_rdev;
  return S_ISREG(a.st_mode) && S_ISREG(b.st_mode) && is_same_inode(a, b);
}

bool is_same_output(const OutputTarget& a, const OutputTarget& b) {
  const bool exist = a.status && b.status;
  if (exist && is_pipe(*a.status)) return is_same_stream(*a.status, *b.status);
  if (b.path.empty()) return exist && is_same_file(*a.status, *b.status);
  if (a.status && !S_ISREG(a.status->st_mode)) return false;
  const fs::path path = canonical_path(a.path);
  return !path.empty() && path == canonical_path(b.path);
}

OutputTargets find_outputs(const Options& options) {
  OutputTargets targets{.output = find_output(options.output)};
  if (options.stats) targets.stats = find_output(options.stats);
  if (options.trace) targets.trace = find_output(options.trace);
  if (options.receipt) targets.receipt = find_output(options.receipt);
  return targets;
}

void refuse_output_conflicts(const Options& options, const OutputTargets& targets) {
  const std::vector<Input> inputs = find_inputs(options);
  for (const auto& [name, target] : find_targets(options, targets)) {
    if (options.test && target == &targets.output) continue;
    const std::optional<struct stat> now = status_of(target->path);  // what would be replaced
    const auto is_target = [&, &target = target](const struct stat& file) {
      return (target->status && is_same_file(file, *target->status)) || (now && is_same_file(file, *now));
    };
    for (const Input& input : inputs)
      if (is_target(input.status) && !(options.in_place && input.kind == Input::Kind::data))
        throw UsageError(fmt::format("{} and {} are the same file", input.shown(), name),
                         options.action == Options::Action::rekey && input.kind == Input::Kind::data
                             ? "omit --output to replace the file, or write to another file"
                             : "write to another file");
  }
}

void refuse_secret_as_name(const std::string& name) {
  if (access(name.c_str(), F_OK) == 0) return;
  if (looks_like_identity(name))
    throw UsageError(
        "an identity was given instead of the name of its file",
        "other users may have seen this command line; make a new identity with gpuaes-keygen --x25519 or "
        "--post-quantum");
  if (looks_like_recipient(name))
    throw UsageError("a recipient was given instead of a file name",
                     "use gpuaes-stream -r for recipients; keys and identities are read from files");
  constexpr std::size_t min_key_digits = 32;
  std::size_t digits = 0, max_digits = 0;
  for (const char c : name) {
    digits = std::isxdigit(static_cast<unsigned char>(c)) ? digits + 1 : 0;
    max_digits = std::max(max_digits, digits);
  }
  if (max_digits >= min_key_digits)
    throw UsageError(
        "a key was given instead of a file name",
        "other users may have seen this command line; make a new key with gpuaes-keygen and name its file");
}

}  // namespace gpuaes
