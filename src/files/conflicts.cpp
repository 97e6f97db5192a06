#include "files/conflicts.hpp"

#include <fmt/format.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "keys/recipient.hpp"
#include "process/child_process.hpp"
#include "terminal/prompt.hpp"

namespace gpuaes {
namespace {

namespace fs = std::filesystem;

struct Input {
  NamedInput named;
  struct stat status;

  bool is_standard() const { return named.name == standard_name; }

  bool is_named_data() const { return named.kind == NamedInput::Kind::data && !is_standard(); }

  // Whether bytes read from this input are lost to other inputs.
  bool consumes() const { return named.kind != NamedInput::Kind::data && is_standard(); }

  std::string shown() const { return is_named_data() ? named.name : std::string(named.what); }
};

// Those that exist now. Data is last, as are_in_conflict() requires.
std::vector<Input> find_inputs(const NamedInputs& inputs) {
  std::vector<Input> found;
  for (const NamedInput& named : inputs.list())
    if (const auto status = status_of(named.name)) found.push_back({named, *status});
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

// The canonical absolute path; empty if it cannot be determined.
fs::path canonical_path(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? fs::path() : fs::weakly_canonical(absolute, error);
}

bool are_in_conflict(const Input& a, const Input& b) {
  if (is_same_stream(a.status, b.status)) return true;
  using Kind = NamedInput::Kind;
  const bool takes_data = a.named.kind == Kind::secret && b.named.kind == Kind::data;
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
                                     shown_name(b->is_standard() ? b->named.name : a->named.name)),
                         "use a different file for one of them");
}

using NamedTargets = std::vector<std::pair<std::string, const OutputTarget*>>;

NamedTargets find_targets(const OutputTargets& targets) {
  NamedTargets outputs{{targets.shown, &targets.output}};
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

NamedInputs& NamedInputs::add(const SecretRequest& secrets) {
  using Kind = NamedInput::Kind;
  const SecretOptions& named = secrets.named;
  // age also encrypts an identity file for its own recipient.
  const Kind kind = secrets.only_identities ? Kind::other : Kind::secret;
  for (const std::string& name : named.key_files) list_.push_back({named.key_option, name, kind});
  if (named.passphrase_file) list_.push_back({named.file_option, *named.passphrase_file, Kind::secret});
  for (const std::string& each : secrets.recipients)
    if (each.starts_with('@')) list_.push_back({named.recipients_option, each.substr(1), Kind::other});
  return *this;
}

NamedInputs& NamedInputs::add(const InputRequest& input) {
  using Kind = NamedInput::Kind;
  const bool is_first = list_.empty() || list_.back().kind != Kind::data;
  has_command_ = !input.command.empty();
  if (!has_command_) list_.push_back({is_first ? "the input" : "another input", input.name, Kind::data});
  return *this;
}

NamedInputs& NamedInputs::add(const StreamRequest& stream) {
  if (stream.header) list_.push_back({"--header", *stream.header, NamedInput::Kind::other});
  return *this;
}

NamedInputs& NamedInputs::add(const InputsRequest& inputs) {
  if (inputs.list) list_.push_back({"--files-from", *inputs.list, NamedInput::Kind::other});
  for (const InputRequest& input : inputs.named) add(input);
  return *this;
}

void check_replaceable(const std::string& name, const char* hint) {
  const OutputTarget target = find_output(name);
  if (!target.status) return;
  if (S_ISDIR(target.status->st_mode)) return;  // a sealed file in parts
  if (!S_ISREG(target.status->st_mode))
    throw UsageError(fmt::format("{} is not a regular file and cannot be replaced", name), hint);
  if (target.standard_descriptor)
    throw UsageError(fmt::format("{} is also standard output or standard error and cannot be replaced", name),
                     hint);
}

void refuse_secret_as_input(const InputRequest& input, const struct stat& opened, NamedInputs secrets) {
  std::vector<Input> inputs = find_inputs(secrets);
  inputs.push_back({secrets.add(input).list().back(), opened});
  try {
    refuse_shared_inputs(inputs, true);
  } catch (const UsageError& error) {
    throw IoError(error.what(), error.hint());
  }
}

void prepare_inputs(const NamedInputs& named, bool only_from_files) {
  const std::vector<Input> inputs = find_inputs(named);
  refuse_shared_inputs(inputs, only_from_files);
  for (const Input& input : inputs)
    if (input.named.kind != NamedInput::Kind::data) close_in_children(input.status);
  const std::optional<struct stat> standard = status_of(std::string(standard_name));
  const auto is_standard = [&](const Input& input) {
    return standard && is_same_inode(input.status, *standard);
  };
  ask_on_standard_input(!named.has_command() && std::ranges::none_of(inputs, is_standard));
}

// If the file system has no times of birth, the inode number alone must suffice.
std::optional<FileSet::Identity> FileSet::find(int directory, const std::string& name, int flags) {
  struct statx status {};
  if (statx(directory, name.c_str(), flags | (name.empty() ? AT_EMPTY_PATH : 0), STATX_INO | STATX_BTIME,
            &status) != 0)
    return std::nullopt;
  const auto born = static_cast<std::uint64_t>(status.stx_btime.tv_sec) * 1'000'000'000;
  return Identity{gnu_dev_makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino,
                  born + status.stx_btime.tv_nsec};
}

void FileSet::add(int directory, const std::string& name, int flags) {
  const std::optional<Identity> file = find(directory, name, flags);
  const std::lock_guard lock(mutex_);
  if (file) files_.insert(*file);
}

bool FileSet::contains(int directory, const std::string& name, int flags) const {
  const std::optional<Identity> file = find(directory, name, flags);
  const std::lock_guard lock(mutex_);
  return file && files_.contains(*file);
}

std::optional<struct stat> status_of(const std::string& name, int directory) {
  struct stat status {};
  const bool is_standard = name == standard_name && directory == AT_FDCWD;
  const int result =
      is_standard ? fstat(STDIN_FILENO, &status) : fstatat(directory, name.c_str(), &status, 0);
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

OutputTargets find_outputs(const OutputRequest& output, const ReportRequest& reports) {
  OutputTargets targets{.output = find_output(output.name)};
  if (!output.name) targets.shown = targets.output.name;
  if (reports.stats) targets.stats = find_output(reports.stats);
  if (reports.trace) targets.trace = find_output(reports.trace);
  return targets;
}

void refuse_output_conflicts(const NamedInputs& named, const OutputTargets& targets, const char* data_hint) {
  const std::vector<Input> inputs = find_inputs(named);
  for (const auto& [name, target] : find_targets(targets)) {
    if (!targets.written && target == &targets.output) continue;
    const std::optional<struct stat> now = status_of(target->path, target->directory);  // to be replaced
    const auto is_target = [&, &target = target](const struct stat& file) {
      return (target->status && is_same_file(file, *target->status)) || (now && is_same_file(file, *now));
    };
    for (const Input& input : inputs)
      if (is_target(input.status))
        throw UsageError(fmt::format("{} and {} are the same file", input.shown(), name),
                         input.named.kind == NamedInput::Kind::data ? data_hint : "write to another file");
  }
}

void refuse_secret_as_name(const std::string& name) {
  if (access(name.c_str(), F_OK) == 0) return;
  const TextKind kind = kind_of_text(name);
  if (is_identity(kind))
    throw UsageError(
        "an identity was given instead of the name of its file",
        "other users may have seen this command line; make a new identity with gpuaes-keygen --x25519 or "
        "--post-quantum");
  if (is_recipient(kind))
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
