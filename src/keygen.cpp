// gpuaes-keygen: a key, or an identity and its recipient, from the system's random generator.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cipher/kdf.hpp"
#include "cipher/recipient.hpp"
#include "io/control.hpp"
#include "io/fd.hpp"
#include "io/file_access.hpp"
#include "io/temp_file.hpp"
#include "options.hpp"
#include "program.hpp"
#include "secrets.hpp"
#include "texts.hpp"

namespace gpuaes {
namespace {

constexpr std::size_t key_bytes = 32;

// By arithmetic alone: neither a branch nor an address depends on the key.
std::byte hex_digit(unsigned value) {
  const unsigned is_letter = (9 - value) >> 8 & 1;
  return static_cast<std::byte>('0' + value + is_letter * ('a' - '0' - 10));
}

// 64 hexadecimal digits and a line feed.
Secret make_key_line() {
  Secret key(key_bytes);
  fill_random(key.bytes());
  Secret line(2 * key_bytes + 1);
  for (std::size_t i = 0; i < key_bytes; ++i) {
    const auto value = std::to_integer<unsigned>(key.bytes()[i]);
    line.bytes()[2 * i] = hex_digit(value >> 4);
    line.bytes()[2 * i + 1] = hex_digit(value & 15);
  }
  line.bytes().back() = std::byte{'\n'};
  return line;
}

// Creates a file that only its owner can open. IoError where the name is taken, even by a symbolic link. A
// file that cannot be written completely is removed, also when a signal ends the program.
void write_new_file(const std::string& name, std::span<const std::byte> bytes) {
  Cancel cancel;
  const Control control(cancel);
  Fd file = open_file(name, O_WRONLY | O_CREAT | O_EXCL, cancel, 0600);
  try {
    make_private(file.get(), name);
    FdSink sink(std::move(file), name, cancel);
    sink.write(bytes);
    sink.sync();
    sink.finish();
    cancel.check();
    sync_directory_of(name);
  } catch (...) {
    unlink(name.c_str());
    throw;
  }
}

void write_secret(const std::optional<std::string>& output, const Secret& lines) {
  output ? write_new_file(*output, lines.bytes()) : print(lines.bytes());
}

// The recipient is printed where the identity does not go, and only once that is safe.
void make_identity(const std::optional<std::string>& output) {
  Identity identity{make_private_key(), {}};
  identity.recipient = public_key_of(identity.private_key);
  write_secret(output, identity_lines(identity));
  try {
    print(text_of(identity.recipient) + "\n", output ? STDOUT_FILENO : STDERR_FILENO);
  } catch (...) {
    if (output) unlink(output->c_str());  // what nobody was told how to use
    throw;
  }
}

void show_recipient(const std::string& name, const Messages& messages) {
  Cancel cancel;
  std::vector<struct stat> files;
  const Secret contents = read_key_file(name, files, messages, cancel);
  print(text_of(parse_identity(contents.bytes(), shown_name(name)).recipient) + "\n");
}

void act(const KeygenOptions& options, const Messages& messages) {
  switch (options.action) {
    case KeygenOptions::Action::help:
      return print(keygen_help_text());
    case KeygenOptions::Action::version:
      return print("gpuaes-keygen " GPUAES_VERSION "\n");
    case KeygenOptions::Action::generate:
      return write_secret(options.output, make_key_line());
    case KeygenOptions::Action::generate_identity:
      return make_identity(options.output);
    case KeygenOptions::Action::show_recipient:
      return show_recipient(*options.identity, messages);
  }
}

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-keygen",
                     [&](Messages& messages) { act(parse_keygen_options(argc, argv), messages); });
}
