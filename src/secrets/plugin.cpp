#include "secrets/plugin.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "base/unicode.hpp"
#include "format/age_header.hpp"
#include "io/fd_source_sink.hpp"
#include "keys/kdf.hpp"
#include "keys/key.hpp"
#include "keys/keyring.hpp"
#include "keys/recipient.hpp"
#include "keys/secret.hpp"
#include "process/child_process.hpp"
#include "terminal/prompt.hpp"

namespace gpuaes {
namespace {

// The program of a plugin -------------------------------------------------------------------------

std::string program_name(const std::string& plugin) {
  return "age-plugin-" + plugin;
}

bool is_program(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

// The absolute path of the plugin's program: the first executable file in PATH. Skips entries of PATH that
// are empty or relative, since anyone who can write to the current directory could put a program there.
std::string find_program(const std::string& plugin) {
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "", ':')) {
    const std::string found = fmt::format("{}/{}", folder, program_name(plugin));
    if (folder.starts_with('/') && is_program(found)) return found;
  }
  throw PluginError(fmt::format("{} is not installed", program_name(plugin)),
                    "for a list of plugins, see https://age-encryption.org/awesome#plugins; PATH must "
                    "contain the absolute path of its "
                    "directory");
}

// One run of a plugin, and its messages (c2sp.org/age-plugin, "IPC protocol") -----------------

constexpr std::size_t first_buffer_bytes = 4096, max_message_bytes = 1 << 20;

// All messages of one run. More than the header of an age file can hold.
constexpr std::uint64_t max_received_bytes = 16 << 20;
constexpr std::uint64_t max_messages = 4096, max_arguments = 1024;

constexpr std::chrono::seconds silence{5};

// How long a plugin may take to end after its pipes were closed, and again after SIGINT.
constexpr std::chrono::seconds moment{1};

// ^C ends the plugin too, perhaps before this program has received the signal.
constexpr std::chrono::milliseconds signal_delay{100};

Command command_for(const std::string& plugin, const std::string& state_machine) {
  return {.words = {find_program(plugin), "--age-plugin=" + state_machine},
          .name = program_name(plugin),
          .input = Command::Input::pipe,
          .directory = "/"};
}

// The bytes that the lines of a body encode; none if they are malformed.
std::optional<Secret> decode_body(std::string_view lines) {
  const auto newlines = static_cast<std::size_t>(std::ranges::count(lines, '\n'));
  Secret body(base64_bytes(lines.size() - newlines));
  for (std::size_t done = 0; !lines.empty();) {
    const std::string_view line = take_line(lines);
    const std::size_t size = base64_bytes(line.size());
    if (line.size() > stanza_line_characters || !decode_secret_base64(line, body.bytes().subspan(done, size)))
      return std::nullopt;
    done += size;
  }
  return body;
}

// In the form of a stanza.
struct Message {
  std::vector<std::string> arguments;  // at least one
  Secret body;

  const std::string& command() const { return arguments.front(); }
};

// Throws a PluginError: what the program sent, or lacks.
[[noreturn]] void refuse_message(const std::string& program, std::string_view what) {
  throw PluginError(fmt::format("{} violates the age plugin protocol: {}", program, what));
}

class Connection {
 public:
  // Starts the plugin in `/` for one of its state machines. `on_silence` is called whenever 5 seconds
  // pass in which the plugin neither sends nor reads what this program waits for. IoError.
  Connection(const std::string& plugin, const std::string& state_machine, std::function<void()> on_silence,
             Cancel& cancel)
      : program_(program_name(plugin)),
        on_silence_(std::move(on_silence)),
        cancel_(cancel),
        child_(command_for(plugin, state_machine), cancel),
        source_(child_.output()),
        sink_(child_.input()),
        buffer_(first_buffer_bytes) {
    source_->at_end({});
    child_.start();
  }

  // Closes the pipes. A plugin that does not end then gets SIGINT, and SIGKILL a moment later.
  ~Connection() {
    sink_.reset();
    source_.reset();
    const int signal = cancel_.signal();
    if (signal != 0 || !child_.ends_within(moment)) child_.stop(signal != 0 ? signal : SIGINT, moment);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Does nothing if the plugin no longer reads: receive() shows why. IoError, Cancelled.
  void send(const std::vector<std::string_view>& arguments, std::span<const std::byte> body = {}) {
    const Secret text = stanza_text(arguments, body);
    try {
      for (std::span<const std::byte> rest = text.bytes(); !rest.empty();) {
        const auto piece =
            rest.first(std::min<std::size_t>(rest.size(), PIPE_BUF));  // a pipe has room for that
        await(*sink_);
        sink_->write(piece);
        rest = rest.subspan(piece.size());
      }
    } catch (const PipeClosed&) {
    }
  }

  // The next message of the plugin, of at most 1 MiB. PluginError if the plugin ends, or sends something else
  // or too much; IoError, Cancelled.
  Message receive() {
    if (++messages_ > max_messages)
      refuse_message(program_, fmt::format("it sent more than {} messages", max_messages));
    std::ranges::copy(buffer_.bytes().subspan(taken_, filled_ - taken_), buffer_.bytes().begin());
    filled_ -= std::exchange(taken_, 0);
    const std::string_view first = next_line();
    if (!first.starts_with(stanza_mark)) refuse_message(program_, "expected the start of a message");
    std::optional<std::vector<std::string>> arguments = parse_arguments(first.substr(stanza_mark.size()));
    if (!arguments) refuse_message(program_, "an argument is empty or contains an invalid character");
    if (arguments->size() > max_arguments) refuse_message(program_, "a message has too many arguments");
    const std::size_t body_at = taken_;
    while (next_line().size() >= stanza_line_characters) {
    }
    std::optional<Secret> body = decode_body(as_text(buffer_.bytes().subspan(body_at, taken_ - body_at)));
    if (!body) refuse_message(program_, "the body of a message is not canonical Base64");
    return {std::move(*arguments), std::move(*body)};
  }

 private:
  // A plugin that has ended may have started a process that still holds its pipes open.
  template <class End>
  void await(End& end) {
    while (!end.ready(silence)) {
      if (child_.ends_within({})) refuse_end();
      on_silence_();
    }
  }

  // Without its newline; valid until the next call.
  std::string_view next_line() {
    for (std::size_t searched = taken_;;) {
      const std::string_view text = as_text(buffer_.bytes().first(filled_));
      const std::size_t end = text.find('\n', searched);
      if (std::min(end, filled_) - taken_ > max_stanza_line_bytes)
        refuse_message(program_, "a line is too long");
      if (end != text.npos) {
        const std::size_t begin = std::exchange(taken_, end + 1);
        return text.substr(begin, end - begin);
      }
      searched = filled_;
      read_more();
    }
  }

  void read_more() {
    if (filled_ == max_message_bytes) refuse_message(program_, "a message is too long");
    if (filled_ == buffer_.size()) buffer_.grow(2 * buffer_.size());
    await(*source_);
    const std::size_t count = source_->read(buffer_.bytes().subspan(filled_));
    if (count == 0) refuse_end();
    filled_ += count;
    received_ += count;
    if (received_ > max_received_bytes)
      refuse_message(program_, fmt::format("it sent more than {} MiB", max_received_bytes >> 20));
  }

  [[noreturn]] void refuse_end() {
    sink_.reset();
    const std::string failure = child_.ends_within(moment) ? child_.failure() : "";
    std::this_thread::sleep_for(signal_delay);
    cancel_.check();
    throw PluginError(failure.empty() ? fmt::format("{} ended before it was done", program_)
                                      : fmt::format("{} {}", program_, failure));
  }

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

// Messages and questions of a plugin to the user, quoted and printable
// -----------------------------------------

// The text between quotation marks on one line, with ' for those in it, shortened if it is very long.
std::string quoted(std::string_view text) {
  constexpr std::size_t max_bytes = 2000;
  std::string_view rest = text;
  while (!rest.empty() && text.size() - rest.size() < max_bytes) take_character(rest);
  std::string shown(text.substr(0, text.size() - rest.size()));
  std::ranges::replace(shown, '\n', ' ');
  std::ranges::replace(shown, '"', '\'');
  return fmt::format("\"{}{}\"", printable(shown), rest.empty() ? "" : "...");
}

class Dialog {
 public:
  Dialog(std::string program, const Context& context) : program_(std::move(program)), context_(context) {}

  void show(std::string_view text) const {
    context_.messages.note(fmt::format("{} says {}", program_, quoted(text)));
  }

  void report_silence() {  // once
    if (!std::exchange(silence_reported_, true))
      context_.messages.note(fmt::format("waiting for {}", program_));
  }

  // The answer on the terminal; none if there is no terminal, or the answer is ^D or longer than 1024 bytes.
  // IoError, Cancelled.
  std::optional<Secret> ask(std::string_view text, Prompt::Answers answers) const {
    return ask_question(fmt::format("{} asks {}", program_, quoted(text)), answers);
  }

  // Whether the user chose `yes`, which is the only choice if `no` is empty. None if there is no terminal, or
  // no valid answer. IoError, Cancelled.
  std::optional<bool> confirm(std::string_view text, std::string_view yes, std::string_view no) const {
    constexpr int attempts = 3;
    const std::string choices = no.empty() ? fmt::format("Enter for {}", quoted(yes))
                                           : fmt::format("1 for {}, 2 for {}", quoted(yes), quoted(no));
    const std::string question = fmt::format("{} asks {} ({})", program_, quoted(text), choices);
    for (int attempt = 0; attempt < attempts; ++attempt) {
      const std::optional<Secret> answer = ask_question(question, Prompt::Answers::open);
      if (!answer) return std::nullopt;
      const std::string_view line = as_text(answer->bytes());
      if (no.empty() || line == "1") return true;
      if (line == "2") return false;
    }
    return std::nullopt;
  }

 private:
  std::optional<Secret> ask_question(const std::string& question, Prompt::Answers answers) const {
    if (!has_terminal()) {
      context_.messages.warning(fmt::format("{}, but there is no terminal", question));
      return std::nullopt;
    }
    Secret line(max_passphrase_bytes + 1);
    Prompt prompt(context_.cancel, answers);
    line.shrink(prompt.ask(question + ": ", line.bytes()));
    if (prompt.ended()) return std::nullopt;
    if (line.size() <= max_passphrase_bytes) return line;
    context_.messages.warning(
        fmt::format("the answer for {} is longer than {} bytes", program_, max_passphrase_bytes));
    return std::nullopt;
  }

  std::string program_;
  const Context context_;
  bool silence_reported_ = false;
};

// The state machines ------------------------------------------------------------------------------

// There is one file key.
constexpr std::string_view file_index = "0";

bool is_identity(const Key& key) {
  return key.secret.size() > 0;
}

// One conversation with a plugin about one key.
class Conversation {
 public:
  Conversation(const Key& key, const std::string& state_machine, const Context& context)
      : program_(program_name(plugin_name(key))),
        dialog_(program_, context),
        plugin_(
            plugin_name(key), state_machine, [this] { dialog_.report_silence(); }, context.cancel) {
    const std::string_view text = as_text(is_identity(key) ? key.secret.bytes() : std::span(key.public_key));
    plugin_.send({is_identity(key) ? "add-identity" : "add-recipient", text});
    // Plugins must ignore commands that they do not know; this keeps them honest.
    std::array<std::byte, 8> random;
    fill_random(random);
    plugin_.send({fmt::format("grease-{}", to_hex(random)), "1"}, random);
  }

  void send(const std::vector<std::string_view>& arguments, std::span<const std::byte> body = {}) {
    plugin_.send(arguments, body);
  }

  // Gives each message to `take`, which returns whether the state machine has its command, until the plugin
  // is done.
  void hear(const std::function<bool(const Message&)>& take) {
    plugin_.send({"done"});
    for (;;) {
      const Message message = plugin_.receive();
      if (message.command() == "done") return;
      if (message.command() == "error") refuse_error(message);
      if (take(message))
        plugin_.send({"ok"});
      else
        answer(message);
    }
  }

  [[noreturn]] void refuse(std::string_view what) const { refuse_message(program_, what); }

 private:
  [[noreturn]] void refuse_error(const Message& message) {
    plugin_.send({"ok"});
    throw PluginError(fmt::format("{} reports {}", program_, quoted(as_text(message.body.bytes()))));
  }

  void answer(const Message& message) {
    const std::string_view text = as_text(message.body.bytes());
    if (message.command() == "msg") {
      dialog_.show(text);
      plugin_.send({"ok"});
    } else if (message.command() == "request-public") {
      pass_on(dialog_.ask(text, Prompt::Answers::open));
    } else if (message.command() == "request-secret") {
      pass_on(dialog_.ask(text, Prompt::Answers::secret));
    } else if (message.command() == "confirm") {
      confirm(message);
    } else {
      plugin_.send({"unsupported"});
    }
  }

  void pass_on(const std::optional<Secret>& reply) {
    reply ? plugin_.send({"ok"}, reply->bytes()) : plugin_.send({"fail"});
  }

  void confirm(const Message& message) {
    std::array<std::string, 2> choices;  // yes and no
    const std::span<const std::string> encoded = std::span(message.arguments).subspan(1);
    if (encoded.empty() || encoded.size() > choices.size()) refuse("a confirmation needs one or two choices");
    for (std::size_t i = 0; i < encoded.size(); ++i) {
      const auto choice = decode_base64(encoded[i], Padding::none);
      if (!choice) refuse("a choice of a confirmation is not canonical Base64");
      choices[i] = as_text(*choice);
    }
    const auto chosen = dialog_.confirm(as_text(message.body.bytes()), choices[0], choices[1]);
    chosen ? plugin_.send({"ok", *chosen ? "yes" : "no"}) : plugin_.send({"fail"});
  }

  std::string program_;
  Dialog dialog_;
  Connection plugin_;
};

// Calls `use`, in one thread at a time, since plugins may ask questions. All failures but Cancelled are the
// plugin's.
template <class Use>
auto attempt(const Use& use) {
  static std::mutex turn;
  const std::lock_guard lock(turn);
  try {
    return use();
  } catch (const PluginError&) {
    throw;
  } catch (const IoError& error) {
    throw PluginError(error.what(), error.hint());
  }
}

class Client : public Plugin {
 public:
  explicit Client(const Context& context) : context_(context) {}

  WrappedFileKey wrap(const Key& key, const Secret& file_key) override {
    return attempt([&] {
      Conversation plugin(key, "recipient-v1", context_);
      plugin.send({"wrap-file-key"}, file_key.bytes());
      plugin.send({"extension-labels"});
      WrappedFileKey wrapped;
      bool has_labels = false;
      plugin.hear([&](const Message& message) {
        if (message.command() == "recipient-stanza") {
          wrapped.stanzas.push_back(stanza_in(message, plugin));
        } else if (message.command() == "labels") {
          if (std::exchange(has_labels, true)) plugin.refuse("it sent labels twice");
          wrapped.labels = labels_in(message, plugin);
        } else {
          return false;
        }
        return true;
      });
      if (wrapped.stanzas.empty()) plugin.refuse("it did not wrap the file key");
      return wrapped;
    });
  }

  std::optional<Secret> unwrap(const Key& identity, std::span<const Stanza> stanzas) override {
    return attempt([&] {
      Conversation plugin(identity, "identity-v1", context_);
      for (const Stanza& stanza : stanzas) {
        std::vector<std::string_view> arguments{"recipient-stanza", file_index};
        arguments.insert(arguments.end(), stanza.arguments.begin(), stanza.arguments.end());
        plugin.send(arguments, stanza.body);
      }
      std::optional<Secret> file_key;
      plugin.hear([&](const Message& message) {
        if (message.command() != "file-key") return false;
        if (file_key) plugin.refuse("it sent a second file key");
        file_key = file_key_in(message, plugin);
        return true;
      });
      return file_key;
    });
  }

 private:
  static Stanza stanza_in(const Message& message, const Conversation& plugin) {
    const std::vector<std::string>& arguments = message.arguments;
    if (arguments.size() < 3) plugin.refuse("it sent a stanza without a type");
    if (arguments[1] != file_index) plugin.refuse("it sent a stanza for another file key");
    const std::span<const std::byte> body = message.body.bytes();
    return {.arguments = {arguments.begin() + 2, arguments.end()}, .body = {body.begin(), body.end()}};
  }

  static std::vector<std::string> labels_in(const Message& message, const Conversation& plugin) {
    std::vector<std::string> labels(message.arguments.begin() + 1, message.arguments.end());
    std::ranges::sort(labels);
    if (std::ranges::adjacent_find(labels) != labels.end()) plugin.refuse("it repeated a label");
    return labels;
  }

  static Secret file_key_in(const Message& message, const Conversation& plugin) {
    if (message.arguments.size() != 2 || message.arguments[1] != file_index)
      plugin.refuse("it sent a file key for another file");
    if (message.body.size() != age_file_key_bytes)
      plugin.refuse(fmt::format("it sent a file key of {} bytes instead of {}", message.body.size(),
                                age_file_key_bytes));
    return message.body.copy();
  }

  const Context context_;
};

}  // namespace

std::shared_ptr<Plugin> make_plugin_client(const Context& context) {
  return std::make_shared<Client>(context);
}

void add_plugin_clients(std::vector<Key>& keys, const Context& context) {
  for (Key& key : keys)
    if (key.kind == KeyKind::plugin) key.plugin = make_plugin_client(context);
}

}  // namespace gpuaes
