#include "run/file_conflicts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/texts.hpp"
#include "io/fd.hpp"

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

// The data comes last. A missing file is left out; opening it reports the error.
std::vector<Input> find_inputs(const Options& options) {
  using Kind = Input::Kind;
  std::vector<Input> inputs;
  const auto add = [&inputs](std::string_view what, const std::string& name, Kind kind) {
    struct stat status {};
    const bool found =
        (name == standard_name ? fstat(STDIN_FILENO, &status) : stat(name.c_str(), &status)) == 0;
    if (found) inputs.push_back({what, name, kind, status});
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

bool are_in_conflict(const Input& a, const Input& b) {
  if (is_same_stream(a.status, b.status)) return true;
  const bool takes_data = a.kind == Input::Kind::secret && b.kind == Input::Kind::data;
  return is_same_file(a.status, b.status) && (takes_data || a.consumes() || b.consumes());
}

}  // namespace

void refuse_same_inputs(const Options& options) {
  const std::vector<Input> inputs = find_inputs(options);
  for (auto a = inputs.begin(); a != inputs.end(); ++a)
    for (auto b = a + 1; b != inputs.end(); ++b)
      if (are_in_conflict(*a, *b))
        throw UsageError(fmt::format(text::same_inputs, a->what, b->what,
                                     shown_name(b->name == standard_name ? b->name : a->name)),
                         text::same_inputs_hint);
}

}  // namespace gpuaes
