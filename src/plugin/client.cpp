#include "plugin/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/base64.hpp"
#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "format/age_header.hpp"
#include "keys/kdf.hpp"
#include "keys/keyring.hpp"
#include "keys/plugin_key.hpp"
#include "plugin/connection.hpp"
#include "plugin/dialog.hpp"
#include "plugin/program.hpp"

namespace gpuaes {
namespace {

// There is one file key.
constexpr std::string_view file_index = "0";

bool is_identity(const Key& key) {
  return key.secret.size() > 0;
}

// One conversation with a plugin about one key.
class Conversation {
 public:
  Conversation(const Key& key, const std::string& state_machine, const Messages& messages, Cancel& cancel)
      : program_(program_name(plugin_name(key))),
        dialog_(program_, messages, cancel),
        plugin_(
            plugin_name(key), state_machine, [this] { dialog_.report_silence(); }, cancel) {
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

// Calls `use`. All failures but Cancelled are the plugin's.
template <class Use>
auto attempt(const Use& use) {
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
  Client(const Messages& messages, Cancel& cancel) : messages_(messages), cancel_(cancel) {}

  WrappedFileKey wrap(const Key& key, const Secret& file_key) override {
    return attempt([&] {
      Conversation plugin(key, "recipient-v1", messages_, cancel_);
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
      Conversation plugin(identity, "identity-v1", messages_, cancel_);
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

  const Messages& messages_;
  Cancel& cancel_;
};

}  // namespace

std::shared_ptr<Plugin> make_plugin_client(const Messages& messages, Cancel& cancel) {
  return std::make_shared<Client>(messages, cancel);
}

}  // namespace gpuaes
