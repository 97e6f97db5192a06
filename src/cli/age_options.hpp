// Parses gpuage's command line, which is that of age, into a request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/age_program.hpp"
#include "cli/requests.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

struct AgeOptions {
  bool decrypt = false, encrypt = false, passphrase = false, armor = false, version = false;
  std::vector<std::string> recipients, plugins;
  std::vector<NamedFile> recipients_files, identities;
  std::optional<NamedFile> output;
  NamedFile input{.kind = NamedFile::Kind::data};

  bool operator==(const AgeOptions&) const = default;
  bool has_identity() const { return !identities.empty() || !plugins.empty(); }
};

// FlagError and UsageRequested (cli/go_flags.hpp); AgeError.
AgeOptions parse_age_options(int argc, const char* const* argv);

// AgeError if age would refuse the options, or if the output is one of the files that are read. Warns of
// values that are given twice.
void check_age_options(const AgeOptions& options, const Messages& messages);

FilterRequest request_of(const AgeOptions& options);

}  // namespace gpuaes
