// gpuage: the command line of age(1), version 1.3, for programs that call age. It makes the same requests as
// gpuaes-stream.

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/age_program.hpp"
#include "cli/go_flags.hpp"
#include "cli/program.hpp"
#include "cli/requests.hpp"
#include "keys/plugin.hpp"
#include "run/filter.hpp"

namespace gpuaes {
namespace {

constexpr char usage[] =
    "Usage:\n"
    "    gpuage [--encrypt] (-r RECIPIENT | -R FILE)... [--armor] [-o OUTPUT] [INPUT]\n"
    "    gpuage [--encrypt] --passphrase [--armor] [-o OUTPUT] [INPUT]\n"
    "    gpuage --decrypt [-i FILE]... [-o OUTPUT] [INPUT]\n"
    "\n"
    "Options:\n"
    "    -e, --encrypt               Encrypt; the default.\n"
    "    -d, --decrypt               Decrypt.\n"
    "    -r, --recipient RECIPIENT   Encrypt for RECIPIENT. Can be repeated.\n"
    "    -R, --recipients-file FILE  Encrypt for the recipients in FILE. Can be repeated.\n"
    "    -p, --passphrase            Encrypt with a passphrase.\n"
    "    -i, --identity FILE         Decrypt with the identities in FILE; with -e, encrypt\n"
    "                                for their recipients. Can be repeated.\n"
    "    -j PLUGIN                   Use a plugin without an identity file, to decrypt or,\n"
    "                                with -e, to encrypt. Can be repeated.\n"
    "    -a, --armor                 Write ASCII armor.\n"
    "    -o, --output OUTPUT         Write to the file OUTPUT.\n"
    "    --version                   Print the version of age that this is compatible with.\n"
    "\n"
    "INPUT is standard input if omitted, and OUTPUT is standard output.\n"
    "\n"
    "Example:\n"
    "    $ gpuage-keygen -o key.txt\n"
    "    Public key: age1...\n"
    "    $ tar -c photos | gpuage -r age1... >photos.age\n"
    "    $ gpuage -d -i key.txt photos.age | tar -x\n"
    "\n"
    "See gpuage(1) for details.\n";

struct Options {
  bool decrypt = false, encrypt = false, passphrase = false, armor = false, version = false;
  std::vector<std::string> recipients, recipients_files, identities, plugins;
  std::string output;
  std::string input;

  bool has_identity() const { return !identities.empty() || !plugins.empty(); }
};

Options parse(int argc, const char* const* argv) {
  Options options;
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
  if (!arguments.empty()) options.input = arguments.front();
  return options;
}

// Rules of age -------------------------------------------------------------------------------------

void check_decryption(const Options& options) {
  constexpr char name_identity[] = "use -i to name a file with an identity";
  if (options.encrypt) throw AgeError("-e and -d cannot be used together");
  if (options.armor) throw AgeError("-a cannot be used with -d", "armor is detected without it");
  if (options.passphrase)
    throw AgeError("-p cannot be used with -d", "a file with a passphrase is detected without it");
  if (!options.recipients.empty()) throw AgeError("-r cannot be used with -d", name_identity);
  if (!options.recipients_files.empty()) throw AgeError("-R cannot be used with -d", name_identity);
}

void check_encryption(const Options& options) {
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

void warn_of_duplicates(const std::vector<std::string>& values, const char* noun, const Messages& messages) {
  std::set<std::string> seen, reported;
  for (const std::string& value : values)
    if (!seen.insert(value).second && reported.insert(value).second)
      messages.warning(fmt::format("duplicate {} \"{}\"", noun, value));
}

void check_output(const Options& options) {
  const auto is_output = [&](const std::string& name) {
    std::error_code error;
    const auto full_name = [](const std::string& each) {
      return std::filesystem::absolute(each).lexically_normal();
    };
    return full_name(name) == full_name(options.output) ||
           std::filesystem::equivalent(name, options.output, error);
  };
  if (options.output.empty() || options.output == standard_name) return;
  std::vector<std::string> inputs = options.identities;
  inputs.insert(inputs.end(), options.recipients_files.begin(), options.recipients_files.end());
  inputs.push_back(options.input);
  for (const std::string& name : inputs)
    if (!name.empty() && is_output(name))
      throw AgeError(fmt::format("input and output file are the same: {}", options.output));
}

// The same request as that of gpuaes-stream -----------------------------------------------------------

SecretRequest secrets_of(const Options& options) {
  SecretRequest secrets{.named = {.key_option = "-i",
                                  .file_option = "",
                                  .command_option = "",
                                  .key_files = options.identities,
                                  .ask_passphrase = options.passphrase,
                                  .attempts = 1,
                                  .generates_passphrase = options.passphrase},
                        .purpose = options.decrypt ? Purpose::open : Purpose::seal_for_identities,
                        .recipients = options.recipients,
                        .plugins = options.plugins,
                        .ask_if_needed = options.decrypt,
                        .warn_if_readable = false,
                        .only_identities = true};
  for (const std::string& name : options.recipients_files) secrets.recipients.push_back("@" + name);
  return secrets;
}

FilterRequest request_of(const Options& options) {
  FilterRequest request{.secrets = secrets_of(options), .inputs = {{InputRequest{}}}};
  if (!options.input.empty()) request.inputs.named.front().name = options.input;
  if (options.output == standard_name)
    request.output.force = true;
  else if (!options.output.empty())
    request.output.name = options.output;
  request.stream.decrypt = options.decrypt;
  request.stream.format = {.name = "age", .armor = options.armor};
  return request;
}

// Errors with the words that callers look for ---------------------------------------------------------

[[noreturn]] void explain_key(const Options& options, const KeyError& error) {
  if (!options.has_identity()) throw AgeError(fmt::format("incorrect passphrase: {}", error.what()));
  if (error.hint().advice == Advice::enter_passphrase)
    throw AgeError("file is passphrase-encrypted but identities were specified with -i or -j",
                   "omit -i and -j to enter the passphrase");
  throw AgeError(fmt::format("no identity matched any of the recipients: {}", error.what()));
}

[[noreturn]] void explain_missing_secret(const Options& options, const UnsuitableInput& error) {
  if (options.has_identity()) throw error;
  if (error.hint().advice == Advice::name_passphrase_source)
    throw AgeError("there is no terminal on which to ask for the passphrase");
  throw AgeError(fmt::format("file is not passphrase-encrypted, identities are required: {}", error.what()),
                 "use -i to name a file with an identity");
}

void run(const Options& options, Messages& messages) {
  if (options.version) return print(age_version_text("gpuage"));
  options.decrypt ? check_decryption(options) : check_encryption(options);
  warn_of_duplicates(options.recipients, "recipient", messages);
  warn_of_duplicates(options.recipients_files, "recipients file", messages);
  warn_of_duplicates(options.identities, "identity file", messages);
  check_output(options);
  try {
    run_filter(request_of(options), messages);
  } catch (const KeyError& error) {
    explain_key(options, error);
  } catch (const UnsuitableInput& error) {
    explain_missing_secret(options, error);
  } catch (const AuthError& error) {
    if (error.hint().advice != Advice::omit_format) throw;
    throw AgeError(error.what(), "use gpuaes-stream to decrypt it");
  } catch (const PluginError& error) {
    throw AgeError(error.what(), error.hint().text);
  } catch (const Error& error) {
    if (error.hint().advice == Advice::redirect_output)
      throw AgeError(error.what(), "use -a to write ASCII armor, or force it with -o -");
    if (error.exit() != Exit::key) throw;
    throw AgeError(fmt::format("incorrect passphrase: {}", error.what()));
  }
}

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_age_program(argv, "gpuage", usage, [&](Messages& messages) {
    if (argc <= 1) throw UsageRequested{Exit::io};
    run(parse(argc, argv), messages);
  });
}
