// What an age plugin does for the age format: it is another program that wraps and unwraps file keys
// (c2sp.org/age-plugin). src/secrets/ runs plugins.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "keys/secret.hpp"

namespace gpuaes {

struct Key;

// A part of the header of an age file, which holds the wrapped file key.
struct Stanza {
  std::vector<std::string> arguments;  // at least one; the first names its type
  std::vector<std::byte> body;
  std::size_t at = 0;  // offset of its first byte in the input

  const std::string& type() const { return arguments.front(); }
};

// A file key as it was wrapped for one recipient. All recipients of a file must have the same set of labels.
struct WrappedFileKey {
  std::vector<Stanza> stanzas;        // at least one
  std::vector<std::string> labels{};  // each once
};

// A plugin cannot be run, or fails.
class PluginError : public IoError {
 public:
  using IoError::IoError;
};

class Plugin {
 public:
  virtual ~Plugin() = default;

  // Wraps a file key for a recipient or identity of the plugin. PluginError, Cancelled.
  virtual WrappedFileKey wrap(const Key& key, const Secret& file_key) = 0;

  // The file key that an identity of the plugin finds in the stanzas of a header, if any. PluginError,
  // Cancelled.
  virtual std::optional<Secret> unwrap(const Key& identity, std::span<const Stanza> stanzas) = 0;
};

}  // namespace gpuaes
