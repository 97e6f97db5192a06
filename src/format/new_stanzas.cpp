#include "format/new_stanzas.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/base64.hpp"
#include "base/error.hpp"
#include "format/age_header.hpp"
#include "format/stanzas.hpp"
#include "format/wrapped_keys.hpp"
#include "keys/recipient.hpp"

namespace gpuaes {
namespace {

bool is_malformed(const Stanza& stanza, const StanzaKind& kind) {
  try {
    kind.check(stanza);
  } catch (const AuthError&) {
    return true;
  }
  const Kem* const kem = kem_of(kind.key);
  return kem != nullptr && !kem->is_ciphertext(*decode_base64(stanza.arguments.back(), Padding::none));
}

// PluginError if this program or age would refuse the stanza of a plugin and the file with it, whatever the
// key.
void check_stanza(const Stanza& stanza, const std::string& plugin) {
  if (stanza.arguments.size() > max_stanza_arguments)
    throw PluginError(fmt::format("the plugin {} made a stanza with {} arguments; at most {} are allowed",
                                  plugin, stanza.arguments.size(), max_stanza_arguments));
  const StanzaKind* const kind = find_stanza_kind(stanza.type());
  if (kind == nullptr) return;
  if (kind->key == KeyKind::passphrase)
    throw PluginError(
        fmt::format("the plugin {} made a scrypt stanza, which must be alone in a file", plugin));
  if (is_malformed(stanza, *kind))
    throw PluginError(fmt::format("the plugin {} made a malformed {} stanza", plugin, stanza.type()));
}

WrappedFileKey wrap(const Secret& file_key, const Key& key, const StopCheck& check) {
  if (key.plugin) {
    WrappedFileKey wrapped = key.plugin->wrap(key, file_key);
    for (const Stanza& stanza : wrapped.stanzas) check_stanza(stanza, plugin_name(key));
    return wrapped;
  }
  return {.stanzas = {find_stanza_kind(key.kind)->wrap(file_key, key, check)}, .labels = labels_of(key.kind)};
}

// PluginError if the header would be too long to be read again, which only stanzas of plugins can cause.
void check_size(std::size_t stanzas, std::size_t header_bytes, const std::string& plugin) {
  if (stanzas > max_stanzas)
    throw PluginError(
        fmt::format("the plugin {} made too many stanzas; a file has at most {}", plugin, max_stanzas));
  if (header_bytes > max_age_header_bytes)
    throw PluginError(fmt::format("the plugin {} made stanzas that are too long; a header has at most {} MiB",
                                  plugin, max_age_header_bytes >> 20));
}

// PluginError if an ssh key would not be tried with all stanzas that have its tag, and a plugin made one of
// them. `plugins` has the name of the plugin for each stanza, or nothing.
void check_tags(const std::vector<Stanza>& stanzas, const std::vector<std::string>& plugins) {
  for (std::size_t i = 0; i < stanzas.size(); ++i) {
    const StanzaKind* const kind = find_stanza_kind(stanzas[i].type());
    if (plugins[i].empty() || kind == nullptr || kind->tag == nullptr) continue;
    const auto count = std::ranges::count_if(stanzas, [&](const Stanza& other) {
      return other.type() == kind->type && other.arguments[1] == stanzas[i].arguments[1];
    });
    if (std::cmp_greater(count, max_tagged_stanzas))
      throw PluginError(
          fmt::format("the plugin {} made too many {} stanzas with the tag {}; a file has at most {}",
                      plugins[i], kind->type, stanzas[i].arguments[1], max_tagged_stanzas));
  }
}

// "the label postquantum"
std::string describe_labels(const std::vector<std::string>& labels) {
  if (labels.empty()) return "no labels";
  return fmt::format("the label{} {}", labels.size() == 1 ? "" : "s", fmt::join(labels, ", "));
}

void check_labels(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  if (one == other) return;
  throw UsageError(fmt::format("the recipients cannot be combined: one has {}, another has {}",
                               describe_labels(one), describe_labels(other)),
                   "only recipients with the same labels can be combined; a plugin chooses the labels of its "
                   "recipients");
}

}  // namespace

void check_new_stanzas(const Keyring& keyring) {
  if (keyring.keys.empty()) throw UsageError("the age format requires a recipient or a passphrase");
  if (keyring.find(KeyKind::key_file) != nullptr)
    throw UsageError("the age format does not accept a key file", Advice::seal_for_key_file);
  check_combination(keyring);
  if (keyring.keys.size() > max_stanzas)
    throw UsageError(fmt::format("the age format allows at most {} recipients", max_stanzas));
}

std::vector<Stanza> make_stanzas(const Secret& file_key, const Keyring& keyring, const StopCheck& check) {
  std::vector<Stanza> stanzas;
  std::optional<std::vector<std::string>> labels;  // of the first recipient
  std::vector<std::string> plugins;                // that made the stanzas
  std::string plugin;                              // the last one so far
  std::size_t header_bytes = make_age_header({}, file_key).size();
  for (const Key& key : keyring.keys) {
    if (key.plugin) plugin = plugin_name(key);
    WrappedFileKey wrapped = wrap(file_key, key, check);
    if (labels) check_labels(*labels, wrapped.labels);
    labels = std::move(wrapped.labels);
    for (const Stanza& stanza : wrapped.stanzas) header_bytes += text_of(stanza).size();
    std::ranges::move(wrapped.stanzas, std::back_inserter(stanzas));
    plugins.resize(stanzas.size(), key.plugin ? plugin : "");
    check_size(stanzas.size(), header_bytes, plugin);
  }
  check_tags(stanzas, plugins);
  return stanzas;
}

}  // namespace gpuaes
