// gpuaes-keygen: a key from the system's random generator.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "cipher/kdf.hpp"
#include "io/fd.hpp"
#include "options.hpp"
#include "program.hpp"

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

// Makes a file that only its owner can read. One that is there already, or a symbolic link, is an IoError;
// one that cannot be written is taken back.
void write_new_file(const std::string& name, std::span<const std::byte> bytes) {
  umask(S_IRWXG | S_IRWXO | S_IXUSR);
  Cancel cancel;
  Fd file = open_file(name, O_WRONLY | O_CREAT | O_EXCL, cancel);
  const int fd = file.get();
  try {
    FdSink sink(std::move(file), name, cancel);
    sink.write(bytes);
    if (fsync(fd) != 0) throw io_error("write", name, errno);
    sink.finish();
  } catch (const Error&) {
    unlink(name.c_str());
    throw;
  }
}

void act(const KeygenOptions& options) {
  switch (options.action) {
    case KeygenOptions::Action::help:
      return print(keygen_help_text());
    case KeygenOptions::Action::version:
      return print("gpuaes-keygen " GPUAES_VERSION "\n");
    case KeygenOptions::Action::generate:
      const Secret line = make_key_line();
      return options.output ? write_new_file(*options.output, line.bytes()) : print(line.bytes());
  }
}

}  // namespace
}  // namespace gpuaes

int main(int argc, char** argv) {
  using namespace gpuaes;
  return run_program("gpuaes-keygen", [&](Messages&) { act(parse_keygen_options(argc, argv)); });
}
