// gpuaes-keygen: makes a key, or an identity and its recipient, with the system's random number generator.

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "cli/completions.hpp"
#include "cli/program.hpp"
#include "io/access.hpp"
#include "io/fd_source_sink.hpp"
#include "io/new_file.hpp"
#include "keys/kdf.hpp"
#include "keys/key.hpp"
#include "keys/recipient.hpp"
#include "secrets/key_files.hpp"
#include "terminal/context.hpp"
#include "terminal/version.hpp"

namespace gpuaes::keygen {
namespace {

struct Options;
using Action = void (*)(const Options& options, const Messages& messages);

void make_key(const Options& options, const Messages&);

struct Options {
  Action action = make_key;
  std::optional<NamedFile> output;  // standard output if not set
  NamedFile identity;               // the identity file whose recipient is printed
  std::string shell;                // of --completions
};

// Actions -----------------------------------------------------------------------------------------

constexpr std::size_t key_bytes = 32;

// In constant time: no branch or memory access depends on the key.
std::byte hex_digit(unsigned value) {
  const unsigned is_letter = (9 - value) >> 8 & 1;
  return static_cast<std::byte>('0' + value + is_letter * ('a' - '0' - 10));
}

// 64 hexadecimal digits and a newline.
Secret make_key_line() {
  const Secret key = random_secret(key_bytes);
  Secret line(2 * key_bytes + 1);
  for (std::size_t i = 0; i < key_bytes; ++i) {
    const auto value = std::to_integer<unsigned>(key.bytes()[i]);
    line.bytes()[2 * i] = hex_digit(value >> 4);
    line.bytes()[2 * i + 1] = hex_digit(value & 15);
  }
  line.bytes().back() = std::byte{'\n'};
  return line;
}

void warn_of_readers(const Messages& messages) {
  if (is_readable_by_others(STDOUT_FILENO))
    messages.warning("the file on standard output is readable by other users; use -o FILE instead");
}

void make_key(const Options& options, const Messages& messages) {
  const Secret line = make_key_line();
  RunControl control(messages);
  Cancel& cancel = control.cancel;
  if (!options.output) {
    warn_of_readers(messages);
    return print(line.bytes(), cancel);
  }
  const std::string& name = options.output->name;
  options.output->in_context([&] { write_new_file({.name = name, .path = name}, line.bytes(), cancel); });
}

constexpr char recipient_suffix[] = ".pub";

void check_identity_name(const std::string& name, const std::string& public_name) {
  if (name.ends_with(recipient_suffix))
    throw UsageError(fmt::format("{} is a name for a recipient, not for an identity", name),
                     "omit .pub; the recipient is written to FILE.pub");
  if (access(public_name.c_str(), F_OK) != 0 && errno == ENAMETOOLONG)
    throw IoError(io_error("cannot create", public_name, ENAMETOOLONG).what(),
                  "the recipient is written to FILE.pub; choose a shorter name");
}

// With an output file, either both files are complete and the recipient is printed, or neither file exists;
// but a power failure may leave only the identity, from which -y prints the recipient. Without one, the
// identity goes to standard output, and the recipient to standard error.
template <KeyKind kind>
void write_identity(const Options& options, const Messages& messages) {
  const Key identity = make_identity(kind);
  const Secret lines = identity_lines(identity);
  const std::string recipient = text_of(recipient_of(identity)) + "\n";
  RunControl control(messages);
  Cancel& cancel = control.cancel;
  if (!options.output) {
    warn_of_readers(messages);
    print(lines.bytes(), cancel);
    return print(recipient, cancel, STDERR_FILENO);
  }
  std::optional<NewFile> secret_file, public_file;
  options.output->in_context([&] {
    const std::string& name = options.output->name;
    const std::string public_name = name + recipient_suffix;
    check_identity_name(name, public_name);
    secret_file.emplace(OutputTarget{.name = name, .path = name}, lines.bytes(), NewFile::Access::owner,
                        cancel);
    public_file.emplace(OutputTarget{.name = public_name, .path = public_name}, bytes_of(recipient),
                        NewFile::Access::as_redirected, cancel);
    secret_file->publish();  // first: data that is encrypted for a recipient without its identity is lost
    public_file->publish();
  });
  print(recipient, cancel);
  secret_file->keep();
  public_file->keep();
}

void show_recipients(const Options& options, const Messages& messages) {
  RunControl control(messages);
  const NamedFile& named = options.identity;
  print(named.in_context([&] { return read_recipients_of(named, control.context); }), control.cancel);
}

void print_version(const Options&, const Messages&) {
  print(version_text("gpuaes-keygen"));
}

void print_completions(const Options& options, const Messages&);
void print_help(const Options&, const Messages&);

// Options -----------------------------------------------------------------------------------------

template <Action action>
void act(Options& options, const std::string&, const std::string&) {
  options.action = action;
}

// To add an option, see cli/stream_options.hpp. If several actions are given, the last one in this list wins.
constexpr auto rows = std::to_array<OptionRow<Options>>({
    {"output,o", "FILE", "Write to FILE, which must not exist; only its owner can read it.",
     set_output<&Options::output>},
    {"x25519", nullptr, "Make an identity, and print its recipient, which -o also writes to FILE.pub.",
     act<write_identity<KeyKind::x25519>>},
    {"post-quantum", nullptr, "Make a post-quantum identity in the same way.",
     act<write_identity<KeyKind::xwing>>},
    {"recipient,y", "FILE", "Print the recipients of the identities in FILE.",
     [](Options& options, const std::string& name, const std::string& option) {
       options.action = show_recipients;
       options.identity = {name, option};
     }},
    {"completions", "SHELL", "Print completions for SHELL (bash, zsh or fish) and exit.",
     [](Options& options, const std::string& name, const std::string&) {
       options.action = print_completions;
       options.shell = name;
     },
     false, shell_names},
    {"version,V", nullptr, "Print the version and exit.", act<print_version>},
    {"help,h", nullptr, "Print this help and exit.", act<print_help>},
});

constexpr auto groups = std::to_array<OptionGroup<Options>>({{"Options", rows}});

void print_completions(const Options& options, const Messages&) {
  print(completions({.name = "gpuaes-keygen", .options = option_texts(groups)}, options.shell));
}

void print_help(const Options&, const Messages&) {
  print(
      "usage: gpuaes-keygen [--x25519 | --post-quantum] [-o FILE]\n"
      "       gpuaes-keygen -y FILE\n"
      "       gpuaes-keygen --completions SHELL | -V | -h\n\n"
      "Make a key file for gpuaes-stream, or an identity and its recipient.\n\n" +
      format_options(groups) +
      "\nExamples:\n"
      "  Make a key:\n"
      "    gpuaes-keygen -o key\n\n"
      "  Make an identity, and its recipient, identity.pub:\n"
      "    gpuaes-keygen --x25519 -o identity\n\n"
      "See gpuaes-keygen(1) for details.\n");
}

Options parse_options(int argc, const char* const* argv) {
  const CommandLine line =
      parse_command_line(argc, argv, option_texts(groups), {.max = Operands::any_number});
  const GivenOptions& given = line.given;
  if (!line.positional.empty())
    throw UsageError("a file name requires -o or -y",
                     "use -o FILE to write to a file, or -y FILE to print its recipients");
  refuse_together(given, "x25519", "post-quantum");
  refuse_together(given, "recipient", "x25519");
  refuse_together(given, "recipient", "post-quantum");
  refuse_together(given, "recipient", "output");
  return read_options(groups, given);
}

}  // namespace
}  // namespace gpuaes::keygen

int main(int argc, char** argv) {
  return gpuaes::run_program("gpuaes-keygen", [&](gpuaes::Messages& messages) {
    const auto options = gpuaes::keygen::parse_options(argc, argv);
    options.action(options, messages);
  });
}
