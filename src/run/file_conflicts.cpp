#include "run/file_conflicts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/texts.hpp"
#include "io/fd_source_sink.hpp"
#include "io/output_file.hpp"

namespace gpuaes {
namespace {

struct Input {
  enum class Kind { secret, recipients, data };

  std::string_view what;
  std::string name;
  Kind kind;
  struct stat status;

  // A second reader finds only what the first one left.
  bool consumes() const { return kind != Kind::data && name == standard_name; }
};

std::optional<struct stat> status_of(const std::string& name) {
  struct stat status {};
  const int result = name == standard_name ? fstat(STDIN_FILENO, &status) : stat(name.c_str(), &status);
  return result == 0 ? std::optional(status) : std::nullopt;
}

std::optional<struct stat> status_of(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? std::optional(status) : std::nullopt;
}

// The data comes last.
std::vector<Input> find_inputs(const Options& options) {
  using Kind = Input::Kind;
  std::vector<Input> inputs;
  const auto add = [&inputs](std::string_view what, const std::string& name, Kind kind) {
    if (const auto status = status_of(name)) inputs.push_back({what, name, kind, *status});
  };
  for (const std::string& name : options.key_files) add("--key", name, Kind::secret);
  if (options.passphrase_file) add("--passphrase-file", *options.passphrase_file, Kind::secret);
  for (const std::string& name : options.new_key_files) add("--new-key", name, Kind::secret);
  if (options.new_passphrase_file) add("--new-passphrase-file", *options.new_passphrase_file, Kind::secret);
  for (const std::string& each : options.recipients)
    if (each.starts_with('@')) add("--recipient", each.substr(1), Kind::recipients);
  add("the input", options.input, Kind::data);
  return inputs;
}

// A program that has the file open for writing would go on writing to a file without a name.
void check_replaceable(const std::string& name) {
  const std::optional<struct stat> status = status_of(name);
  if (!status) return;
  if (!S_ISREG(status->st_mode))
    throw UsageError(fmt::format(text::not_replaceable, name), text::not_replaceable_hint);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
    if (const auto standard = status_of(fd); standard && is_same_file(*standard, *status))
      throw UsageError(fmt::format(text::output_replaceable, name), text::not_replaceable_hint);
}

bool are_in_conflict(const Input& a, const Input& b) {
  if (is_same_stream(a.status, b.status)) return true;
  const bool takes_data = a.kind == Input::Kind::secret && b.kind == Input::Kind::data;
  return is_same_file(a.status, b.status) && (takes_data || a.consumes() || b.consumes());
}

void refuse_same_outputs(const Options& options) {
  if (options.stats && is_same_output(*options.stats, options.output))
    throw UsageError(fmt::format(text::same_as_output, "stats"));
  if (options.trace && is_same_output(*options.trace, options.output))
    throw UsageError(fmt::format(text::same_as_output, "trace"));
  if (options.trace && options.stats && is_same_output(*options.trace, options.stats))
    throw UsageError(text::same_outputs);
}

// Without a name: standard output.
void refuse_in_use(const std::optional<std::string>& output, std::span<const struct stat> in_use) {
  const std::optional<struct stat> status = output ? status_of(*output) : status_of(STDOUT_FILENO);
  if (!status) return;
  for (const struct stat& input : in_use)
    if (is_same_file(input, *status))
      throw IoError(fmt::format(text::output_is_input, output.value_or(text::standard_output)),
                    text::output_is_input_hint);
}

}  // namespace

void refuse_input_conflicts(const Options& options) {
  if (options.in_place) check_replaceable(options.input);
  const std::vector<Input> inputs = find_inputs(options);
  for (auto a = inputs.begin(); a != inputs.end(); ++a)
    for (auto b = a + 1; b != inputs.end(); ++b)
      if (are_in_conflict(*a, *b))
        throw UsageError(fmt::format(text::same_inputs, a->what, b->what,
                                     shown_name(b->name == standard_name ? b->name : a->name)),
                         text::same_inputs_hint);
}

void refuse_output_conflicts(const Options& options, std::span<const struct stat> in_use) {
  refuse_same_outputs(options);
  if (!options.test) refuse_in_use(options.in_place ? options.input : options.output, in_use);
  if (options.stats) refuse_in_use(options.stats, in_use);
  if (options.trace) refuse_in_use(options.trace, in_use);
}

}  // namespace gpuaes
