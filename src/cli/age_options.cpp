#include "cli/age_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <set>
#include <system_error>

#include "cli/go_flags.hpp"
#include "format/format.hpp"

namespace gpuaes {
namespace {

void check_decryption(const AgeOptions& options) {
  constexpr char name_identity[] = "use -i to name a file with an identity";
  if (options.encrypt) throw AgeError("-e and -d cannot be used together");
  if (options.armor) throw AgeError("-a cannot be used with -d", "armor is detected without it");
  if (options.passphrase)
    throw AgeError("-p cannot be used with -d", "a file with a passphrase is detected without it");
  if (!options.recipients.empty()) throw AgeError("-r cannot be used with -d", name_identity);
  if (!options.recipients_files.empty()) throw AgeError("-R cannot be used with -d", name_identity);
}

void check_encryption(const AgeOptions& options) {
  const bool has_recipient = !options.recipients.empty() || !options.recipients_files.empty();
  if (options.has_identity() && !options.encrypt)
    throw AgeError("-i and -j can be used to encrypt only with -e", "use -d to decrypt");
  if (!has_recipient && !options.has_identity() && !options.passphrase)
    throw AgeError("missing recipients", "use -r, -R or -p");
  if (options.passphrase && (has_recipient || options.has_identity()))
    throw AgeError("-p cannot be combined with -r, -R, -i or -j");
  for (const std::string& recipient : options.recipients)
    if (recipient.starts_with('@'))
      throw AgeError(fmt::format("{} is not a recipient", recipient), "use -R for a file of recipients");
}

template <class Value, class Text = std::identity>
void warn_of_duplicates(const std::vector<Value>& values, const char* noun, const Messages& messages,
                        Text text = {}) {
  std::set<std::string> seen, reported;
  for (const Value& each : values) {
    const std::string& value = std::invoke(text, each);
    if (!seen.insert(value).second && reported.insert(value).second)
      messages.warning(fmt::format("duplicate {} \"{}\"", noun, value));
  }
}

void check_output(const AgeOptions& options) {
  if (!options.output || options.output->is_standard()) return;
  const std::filesystem::path output = options.output->name;
  std::vector<NamedFile> inputs = options.identities;
  inputs.insert(inputs.end(), options.recipients_files.begin(), options.recipients_files.end());
  inputs.push_back(options.input);
  for (const NamedFile& input : inputs) {
    if (input.is_standard()) continue;
    std::error_code error;
    if (std::filesystem::path(input.name).lexically_normal() == output.lexically_normal() ||
        std::filesystem::equivalent(input.name, output, error))
      throw AgeError(fmt::format("input and output file are the same: {}", options.output->name));
  }
}

SecretRequest secrets_of(const AgeOptions& options) {
  SecretRequest secrets{.named = {.ask_passphrase = options.passphrase,
                                  .attempts = 1,
                                  .generates_passphrase = options.passphrase},
                        .purpose = options.decrypt ? Purpose::open : Purpose::seal_for_identities,
                        .ask_if_needed = options.decrypt,
                        .warn_if_readable = false,
                        .only_identities = true};
  // Not Kind::secret: age also encrypts an identity file for its own recipient.
  secrets.named.key_files = options.identities;
  secrets.recipients.assign(options.recipients.begin(), options.recipients.end());
  secrets.recipients.insert(secrets.recipients.end(), options.recipients_files.begin(),
                            options.recipients_files.end());
  for (const std::string& name : options.plugins) secrets.plugins.push_back({name, "-j"});
  return secrets;
}

}  // namespace

AgeOptions parse_age_options(int argc, const char* const* argv) {
  AgeOptions options;
  const GoFlag flags[] = {
      {{"e", "encrypt"}, &options.encrypt},
      {{"d", "decrypt"}, &options.decrypt},
      {{"r", "recipient"}, &options.recipients},
      {{"R", "recipients-file"}, &options.recipients_files},
      {{"p", "passphrase"}, &options.passphrase},
      {{"i", "identity"}, &options.identities},
      {{"j"}, &options.plugins},
      {{"a", "armor"}, &options.armor},
      {{"o", "output"}, &options.output},
      {{"version"}, &options.version},
  };
  const std::vector<std::string> arguments = parse_go_flags(argc, argv, flags);
  if (arguments.size() > 1 && !options.version)
    throw AgeError(
        fmt::format("too many arguments: only one input file can be given, not also {}", arguments[1]),
        arguments[1].starts_with('-') ? "the input file must follow all options" : "");
  if (!arguments.empty() && !arguments.front().empty()) options.input.name = arguments.front();
  return options;
}

void check_age_options(const AgeOptions& options, const Messages& messages) {
  options.decrypt ? check_decryption(options) : check_encryption(options);
  warn_of_duplicates(options.recipients, "recipient", messages);
  warn_of_duplicates(options.recipients_files, "recipients file", messages, &NamedFile::name);
  warn_of_duplicates(options.identities, "identity file", messages, &NamedFile::name);
  check_output(options);
}

FilterRequest request_of(const AgeOptions& options) {
  FilterRequest request{.secrets = secrets_of(options), .inputs = {{InputRequest{.file = options.input}}}};
  request.output.force = options.output && options.output->is_standard();
  if (!request.output.force) request.output.file = options.output;
  request.stream.decrypt = options.decrypt;
  request.stream.format = {.named = &age_format, .armor = options.armor};
  return request;
}

}  // namespace gpuaes
