// Whatever a plugin sends, it is an answer that the protocol allows, or a PluginError. A header with stanzas
// of the plugin can be read by those with other identities. No process is started: the functions that start
// the plugin and wait for it are replaced.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "format/age_header.hpp"
#include "format/format.hpp"
#include "format/header_reader.hpp"
#include "fuzz/fuzz.hpp"
#include "io/fd.hpp"
#include "keys/recipient.hpp"
#include "secrets/plugin.hpp"
#include "support/files.hpp"

namespace {

// The plugin: its ends of the pipes, and what it sends.
int standard_input = -1, standard_output = -1;
std::span<const std::byte> output;

}  // namespace

extern "C" {

int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t*, int fd, int new_fd) noexcept {
  (new_fd == STDIN_FILENO ? standard_input : standard_output) = fd;
  return 0;
}

int posix_spawnp(pid_t* pid, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                 char* const[], char* const[]) {
  *pid = std::numeric_limits<pid_t>::max();
  standard_input = dup(standard_input);  // the pipe has room for all that the plugin would read
  return write(standard_output, output.data(), output.size()) == std::ssize(output) ? 0 : errno;
}

pid_t waitpid(pid_t pid, int* status, int) {
  *status = 0;
  return pid;
}

int nanosleep(const timespec*, timespec*) {
  return 0;
}

}  // extern "C"

namespace gpuaes {
namespace {

// Makes a program that can be found, and leaves the terminal, on which questions would be asked.
class Client {
 public:
  Client() {
    write_file(directory_ / "age-plugin-test", {});
    std::filesystem::permissions(directory_ / "age-plugin-test", std::filesystem::perms::owner_all);
    setenv("PATH", directory_.path().c_str(), 1);
    signal(SIGPIPE, SIG_IGN);
    if (const Fd terminal(open("/dev/tty", O_RDWR | O_CLOEXEC)); terminal.get() >= 0)
      ioctl(terminal.get(), TIOCNOTTY);
    messages_.set_level(Messages::Level::quiet);
  }

  Keyring keyring(Key key) const {
    key.plugin = plugin_;
    Keyring keyring;
    keyring.keys.push_back(std::move(key));
    return keyring;
  }

 private:
  TempDir directory_;
  Messages messages_{"fuzz"};
  Cancel cancel_;
  std::shared_ptr<Plugin> plugin_ = make_plugin_client({messages_, cancel_});
};

// The identity is not of the plugin, and must not find the header malformed.
void read(std::span<const std::byte> header) {
  HeaderReader input = reader_of(header);
  SessionRequest request{.decrypt = true};
  request.input = &input;
  request.keyring.keys.push_back({.kind = KeyKind::x25519, .secret = Secret(32)});
  try {
    open_session(find_format("age"), std::move(request));
  } catch (const KeyError&) {
  }
}

void wrap(const Client& client) {
  try {
    SessionRequest request{.keyring = client.keyring(parse_recipient("age1test1qqqqqqqp4xas2", "it"))};
    read(open_session(find_format("age"), std::move(request))->header());
  } catch (const PluginError&) {
  }
}

// The file key is 0. AuthError if the plugin has another.
void unwrap(const Client& client) {
  std::vector<std::byte> header = make_age_header({{.arguments = {"test"}, .body = {}}}, Secret(16));
  header.resize(header.size() + 16);  // the nonce of the payload
  HeaderReader input = reader_of(header);
  SessionRequest request{
      .decrypt = true,
      .keyring = client.keyring(std::move(parse_identities("AGE-PLUGIN-TEST-1QQQQQQQCEA2P4", "it").front()))};
  request.input = &input;
  try {
    open_session(find_format("age"), std::move(request));
  } catch (const PluginError&) {
  } catch (const AuthError&) {
  } catch (const KeyError&) {
  }
}

}  // namespace

void fuzz(std::span<const std::byte> input) {
  static const Client client;
  output = input;
  for (const auto& converse : {wrap, unwrap}) {
    converse(client);
    close(standard_input);
  }
}

}  // namespace gpuaes
