// gpuaes-keygen: makes a key, or an identity and its recipient, with the system's random number generator.

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "cli/keygen_options.hpp"
#include "cli/program.hpp"
#include "io/fd_source_sink.hpp"
#include "io/output_file.hpp"
#include "keys/kdf.hpp"
#include "keys/recipient.hpp"
#include "process/control.hpp"
#include "run/secrets.hpp"

namespace gpuaes {
namespace {

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

void make_key(const std::optional<std::string>& output) {
  const Secret line = make_key_line();
  if (!output) return print(line.bytes());
  Cancel cancel;
  const Control control(cancel);
  write_new_file(*output, *output, line.bytes(), cancel, {});
}

// Prints the recipient to standard error if the identity goes to standard output. Removes an identity file if
// the recipient cannot be printed.
void write_identity(KeyKind kind, const std::optional<std::string>& output) {
  const Key identity = make_identity(kind);
  const Secret lines = identity_lines(identity);
  const std::string recipient = text_of(recipient_of(identity)) + "\n";
  if (!output) {
    print(lines.bytes());
    return print(recipient, STDERR_FILENO);
  }
  Cancel cancel;
  const Control control(cancel);
  write_new_file(*output, *output, lines.bytes(), cancel,
                 [&] { print(std::as_bytes(std::span(recipient)), STDOUT_FILENO, cancel); });
}

void show_recipients(const std::string& name, const Messages& messages) {
  Cancel cancel;
  const Secret contents = read_key_file(name, messages, cancel);
  std::string recipients;
  for (const Key& identity : parse_identities(as_text(contents.bytes()), shown_name(name)))
    recipients += text_of(recipient_of(identity)) + "\n";
  print(recipients);
}

void act(const KeygenOptions& options, const Messages& messages) {
  switch (options.action) {
    case KeygenOptions::Action::completions:
      return print(keygen_completions(options.shell));
    case KeygenOptions::Action::help:
      return print(keygen_help_text());
    case KeygenOptions::Action::version:
      return print("gpuaes-keygen " GPUAES_VERSION "\n");
    case KeygenOptions::Action::generate:
      return make_key(options.output);
    case KeygenOptions::Action::generate_x25519:
      return write_identity(KeyKind::x25519, options.output);
    case KeygenOptions::Action::generate_post_quantum:
      return write_identity(KeyKind::xwing, options.output);
    case KeygenOptions::Action::show_recipient:
      return show_recipients(options.identity, messages);
  }
}

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-keygen",
                     [&](Messages& messages) { act(parse_keygen_options(argc, argv), messages); });
}
