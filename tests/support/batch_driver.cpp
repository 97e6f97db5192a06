// Runs many command lines of gpuaes-stream in one process, for tests of large matrices: a run takes a
// fraction of the time of a new process. `batch_driver REQUESTS REPLIES` reads requests from the one
// descriptor and writes replies to the other until the end of the input:
//
//     request:  u32 number of options, each as u32 length and bytes; u32 1 if standard input is a file, 0 for
//     a pipe;
//               u64 length of the input and its bytes
//     reply:    u32 exit status; u64 length of the output and its bytes; u64 length of the messages and their
//     bytes
//
// Numbers are in the byte order of the host.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "cli/options.hpp"
#include "cli/program.hpp"
#include "io/fd.hpp"
#include "run/filter.hpp"
#include "run/inputs.hpp"

namespace {

using namespace gpuaes;

void check(bool good) {
  if (!good) std::abort();
}

std::string read_all(int fd, std::size_t limit = SIZE_MAX) {
  std::string bytes;
  char buffer[1 << 16];
  while (bytes.size() < limit) {
    const ssize_t count = read(fd, buffer, std::min(sizeof buffer, limit - bytes.size()));
    check(count >= 0);
    if (count == 0) break;
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
  return bytes;
}

// False if the reader has closed the pipe.
bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

int requests, replies;  // descriptors

template <typename T>
T receive() {
  T value{};
  const std::string bytes = read_all(requests, sizeof value);
  if (bytes.empty()) std::exit(0);
  check(bytes.size() == sizeof value);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(&value));
  return value;
}

template <typename T>
void send(T value) {
  check(write_all(replies, {reinterpret_cast<const char*>(&value), sizeof value}));
}

void send_bytes(const std::string& bytes) {
  send(std::uint64_t{bytes.size()});
  check(write_all(replies, bytes));
}

// Gives this end of a new pipe the number `fd`. Returns the other end.
Fd replace_by_pipe(int fd) {
  int ends[2];
  check(pipe(ends) == 0);
  const int own = fd == STDIN_FILENO ? 0 : 1;
  check(dup2(ends[own], fd) == fd && close(ends[own]) == 0);
  return Fd(ends[1 - own]);
}

void replace_by_file(int fd, const std::string& content) {
  const Fd file(memfd_create("input", 0));
  check(file.get() >= 0 && write_all(file.get(), content) && lseek(file.get(), 0, SEEK_SET) == 0);
  check(dup2(file.get(), fd) == fd);
}

// Keeps them occupied, so that pipes get other numbers.
void close_standard_descriptors() {
  static const int nothing = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) check(dup2(nothing, fd) == fd);
}

int run(std::vector<std::string>& options) {
  std::vector<char*> argv;
  for (std::string& option : options) argv.push_back(option.data());
  argv.push_back(nullptr);
  return run_program("gpuaes-stream", [&](Messages& messages) {
    const Parsed<Request> parsed = parse_options(static_cast<int>(options.size()), argv.data());
    messages.set_level(parsed.level);
    run_filter(std::get<FilterRequest>(parsed.request), messages);
  });
}

void answer() {
  std::vector<std::string> options{"gpuaes-stream"};
  for (auto count = receive<std::uint32_t>(); count > 0; --count)
    options.push_back(read_all(requests, receive<std::uint32_t>()));
  const bool from_file = receive<std::uint32_t>() != 0;
  const std::string input = read_all(requests, receive<std::uint64_t>());

  std::jthread writer;
  if (from_file)
    replace_by_file(STDIN_FILENO, input);
  else
    writer = std::jthread([&input, pipe = replace_by_pipe(STDIN_FILENO)] { write_all(pipe.get(), input); });
  const auto collect = [](int fd) {
    return std::async(std::launch::async, [end = replace_by_pipe(fd)] { return read_all(end.get()); });
  };
  auto output = collect(STDOUT_FILENO), messages = collect(STDERR_FILENO);
  const int status = run(options);
  close_standard_descriptors();
  send(static_cast<std::uint32_t>(status));
  send_bytes(output.get());
  send_bytes(messages.get());
}

}  // namespace

int main(int argc, char** argv) {
  check(argc == 3);
  requests = std::atoi(argv[1]);
  replies = std::atoi(argv[2]);
  close_standard_descriptors();
  while (true) answer();
}
