// gpuage-keygen: the command line of age-keygen(1), version 1.3.

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "cli/age_program.hpp"
#include "cli/go_flags.hpp"
#include "cli/program.hpp"
#include "io/access.hpp"
#include "io/fd_source_sink.hpp"
#include "io/new_file.hpp"
#include "keys/recipient.hpp"
#include "secrets/key_files.hpp"
#include "terminal/context.hpp"

namespace gpuaes {
namespace {

constexpr char usage[] =
    "Usage:\n"
    "    gpuage-keygen [-pq] [-o OUTPUT]\n"
    "    gpuage-keygen -y [-o OUTPUT] [INPUT]\n"
    "\n"
    "Make an identity, or print the recipients of identities.\n"
    "\n"
    "Options:\n"
    "    -pq                   Make a post-quantum identity.\n"
    "    -y                    Print the recipients of the identities in INPUT, or in\n"
    "                          standard input.\n"
    "    -o, --output OUTPUT   Write to the file OUTPUT, which must not exist.\n"
    "    --version             Print the version of age-keygen that this is compatible with.\n"
    "\n"
    "See gpuage-keygen(1) for details.\n";

struct Options {
  bool post_quantum = false, convert = false, version = false;
  std::optional<NamedFile> output;
  NamedFile input;
};

Options parse(int argc, const char* const* argv) {
  Options options;
  const GoFlag flags[] = {{{"pq"}, &options.post_quantum},
                          {{"y"}, &options.convert},
                          {{"o", "output"}, &options.output},
                          {{"version"}, &options.version}};
  const std::vector<std::string> arguments = parse_go_flags(argc, argv, flags);
  if (options.version) return options;
  if (arguments.size() > (options.convert ? 1 : 0)) throw AgeError("too many arguments");
  if (options.post_quantum && options.convert) throw AgeError("-pq cannot be used with -y");
  if (!arguments.empty() && !arguments.front().empty()) options.input.name = arguments.front();
  return options;
}

void write(const Options& options, std::span<const std::byte> bytes, Cancel& cancel) {
  if (!options.output) return print(bytes, cancel);
  const std::string& name = options.output->name;
  options.output->in_context([&] { write_new_file({.name = name, .path = name}, bytes, cancel); });
}

void make(const Options& options, const Messages& messages) {
  const bool to_file = options.output.has_value();
  if (!to_file && is_readable_by_others(STDOUT_FILENO, S_IROTH))
    messages.warning("writing secret key to a world-readable file");
  const Key identity = make_identity(options.post_quantum ? KeyKind::xwing : KeyKind::x25519);
  RunControl control(messages);
  write(options, identity_lines(identity).bytes(), control.cancel);
  if (!to_file && isatty(STDOUT_FILENO) != 0) return;
  try {
    print(fmt::format("Public key: {}\n", text_of(recipient_of(identity))), control.cancel, STDERR_FILENO);
  } catch (const IoError&) {  // the identity is written, and has the recipient in it
  }
}

void convert(const Options& options, Messages& messages) {
  messages.set_level(Messages::Level::quiet);
  RunControl control(messages);
  write(options, bytes_of(read_recipients_of(options.input, control.context)), control.cancel);
}

void run(const Options& options, Messages& messages) {
  if (options.version) return print(age_version_text("gpuage-keygen"));
  options.convert ? convert(options, messages) : make(options, messages);
}

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_age_program(argv, "gpuage-keygen", usage,
                         [&](Messages& messages) { run(parse(argc, argv), messages); });
}
