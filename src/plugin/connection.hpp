// One run of an age plugin, and the messages that this program exchanges with it (c2sp.org/age-plugin, "IPC
// protocol").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/cancel.hpp"
#include "io/fd_source_sink.hpp"
#include "keys/secret.hpp"
#include "process/child_process.hpp"

namespace gpuaes {

// In the form of a stanza.
struct Message {
  std::vector<std::string> arguments;  // at least one
  Secret body;

  const std::string& command() const { return arguments.front(); }
};

class Connection {
 public:
  // Starts the plugin in `/` for one of its state machines. `on_silence` is called whenever 5 seconds
  // pass in which the plugin neither sends nor reads what this program waits for. IoError.
  Connection(const std::string& plugin, const std::string& state_machine, std::function<void()> on_silence,
             Cancel& cancel);

  // Closes the pipes. A plugin that does not end then gets SIGINT, and SIGKILL a moment later.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Does nothing if the plugin no longer reads: receive() shows why. IoError, Cancelled.
  void send(const std::vector<std::string_view>& arguments, std::span<const std::byte> body = {});

  // The next message of the plugin, of at most 1 MiB. PluginError if the plugin ends, or sends something else
  // or too much; IoError, Cancelled.
  Message receive();

 private:
  template <class End>
  void await(End& end);
  std::string_view next_line();
  void read_more();
  [[noreturn]] void refuse_end();

  std::string program_;
  std::function<void()> on_silence_;
  Cancel& cancel_;
  ChildProcess child_;
  std::optional<FdSource> source_;
  std::optional<FdSink> sink_;
  Secret buffer_;
  std::size_t taken_ = 0, filled_ = 0;  // bytes of the buffer
  std::uint64_t received_ = 0;          // bytes
  std::uint64_t messages_ = 0;
};

// Throws a PluginError: what the program sent, or lacks.
[[noreturn]] void refuse_message(const std::string& program, std::string_view what);

}  // namespace gpuaes
