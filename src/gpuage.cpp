// gpuage: the command line of age(1), version 1.3, for programs that call age.

#include <fmt/format.h>

#include <string>

#include "cli/age_options.hpp"
#include "cli/age_program.hpp"
#include "cli/go_flags.hpp"
#include "cli/program.hpp"
#include "io/fd_source_sink.hpp"
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
    "    -i, --identity FILE         Use the identities in FILE. Can be repeated.\n"
    "    -j PLUGIN                   Use a plugin without an identity file, to decrypt or,\n"
    "                                with -e, to encrypt. Can be repeated.\n"
    "    -a, --armor                 Write ASCII armor.\n"
    "    -o, --output OUTPUT         Write to the file OUTPUT.\n"
    "    --version                   Print the version of age that this is compatible with.\n"
    "\n"
    "INPUT is standard input if omitted, and OUTPUT is standard output. An existing file\n"
    "OUTPUT is replaced.\n"
    "\n"
    "RECIPIENT is the public key of an identity, as gpuage-keygen prints it (\"age1...\"),\n"
    "or an SSH public key (\"ssh-ed25519 AAAA...\", \"ssh-rsa AAAA...\").\n"
    "\n"
    "A recipients file has one recipient per line. Empty lines and lines that begin with\n"
    "\"#\" are ignored. The name \"-\" is standard input.\n"
    "\n"
    "An identity file has one secret key per line (\"AGE-SECRET-KEY-1...\"), as\n"
    "gpuage-keygen makes it, or is an SSH private key. It can itself be encrypted with a\n"
    "passphrase. Of several identities, those that do not fit are ignored. The name \"-\"\n"
    "is standard input.\n"
    "\n"
    "With -e, -i encrypts for the identities in a file, alone or along with recipients.\n"
    "\n"
    "Example:\n"
    "    $ gpuage-keygen -o key.txt\n"
    "    Public key: age1...\n"
    "    $ tar -c photos | gpuage -r age1... >photos.age\n"
    "    $ gpuage -d -i key.txt photos.age | tar -x\n"
    "\n"
    "See gpuage(1) for details.\n";

// Errors with the words that callers look for ---------------------------------------------------------

[[noreturn]] void explain_key(const AgeOptions& options, const KeyError& error) {
  if (!options.has_identity()) throw AgeError(fmt::format("incorrect passphrase: {}", error.what()));
  if (error.hint().advice == Advice::enter_passphrase)
    throw AgeError("file is passphrase-encrypted but identities were specified with -i or -j",
                   "omit -i and -j to enter the passphrase");
  throw AgeError(fmt::format("no identity matched any of the recipients: {}", error.what()));
}

[[noreturn]] void explain_missing_secret(const AgeOptions& options, const UnsuitableInput& error) {
  if (options.has_identity()) throw error;
  if (error.hint().advice == Advice::name_passphrase_source)
    throw AgeError("there is no terminal on which to ask for the passphrase");
  throw AgeError(fmt::format("file is not passphrase-encrypted, identities are required: {}", error.what()),
                 "use -i to name a file with an identity");
}

void run(const AgeOptions& options, Messages& messages) {
  if (options.version) return print(age_version_text("gpuage"));
  check_age_options(options, messages);
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
    run(parse_age_options(argc, argv), messages);
  });
}
