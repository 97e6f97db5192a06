// The names of the outputs of many inputs, below one directory.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "files/named_file.hpp"
#include "format/format.hpp"
#include "io/naming.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

// Warns if the name of an output ends like that of a file in another format.
void warn_of_ending(const std::optional<NamedFile>& output, const Format& format, const Messages& messages);

class OutputNames {
 public:
  // `ending` is appended to the names of inputs; if it is empty, inputs have one of `endings`, and outputs do
  // not.
  explicit OutputNames(std::string ending) : ending_(std::move(ending)) {}

  // The path of the output for an input, below the directory. UsageError if it could be outside; IoError if
  // the input has the wrong ending. From any thread.
  std::string path_for(const std::string& input) const;

  // UsageError if the outputs for `input`, or for files below it, could be outside the directory.
  static void check(const std::string& input);

  // The same, called once for each input, before it is read. UsageError also if another input has the same
  // output.
  std::string add(const std::string& input);

  // Whether the file `name` in that folder is the output of no other input: a directory may have several
  // paths. From any thread.
  bool claim(const struct stat& folder, std::string_view name, const std::string& input);

  // Whether the name is that of an encrypted file.
  static bool has_ending(std::string_view name);

  static constexpr std::array<std::string_view, 2> endings = {".age", ".sealed"};

 private:
  // Instead of names, which may need much more memory.
  struct HashOfHash {
    std::size_t operator()(const NameHash& hash) const noexcept {
      std::size_t begin;
      std::memcpy(&begin, hash.data(), sizeof begin);
      return begin;
    }
  };

  std::string ending_;
  std::unordered_set<NameHash, HashOfHash> outputs_;
  std::mutex mutex_;
  std::unordered_map<NameHash, NameHash, HashOfHash> claimed_;  // by inputs; guarded by mutex_
};

}  // namespace gpuaes
