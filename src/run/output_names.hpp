// The names of the outputs of many inputs, below one directory.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_set>

namespace gpuaes {

class OutputNames {
 public:
  // Outputs are in `directory`, which need not exist yet. `ending` is appended to the names of inputs; if it
  // is empty, inputs have one of `endings`, and outputs do not.
  OutputNames(const std::string& directory, std::string ending);

  // The path of the output for an input, below the directory. UsageError if it could be outside; IoError if
  // the input has the wrong ending. From any thread.
  std::string path_for(const std::string& input) const;

  // Call this once for each input, before it is read. UsageError if another input has the same output, or if
  // a file is an input and also an output, in whatever order and by whatever name; otherwise as path_for().
  void add(const std::string& input);

  // No output may replace this file.
  void protect(const std::string& file);

  static constexpr std::array<std::string_view, 2> endings = {".age", ".sealed"};

 private:
  using Hash = std::array<std::byte, 16>;  // instead of the name, which may need much more memory
  struct HashOfHash {
    std::size_t operator()(const Hash& hash) const noexcept {
      std::size_t begin;
      std::memcpy(&begin, hash.data(), sizeof begin);
      return begin;
    }
  };
  static Hash hash_of(const std::string& path);
  std::string place_of(const std::string& file);

  std::string directory_;  // canonical, with a slash
  std::string ending_;
  std::unordered_set<Hash, HashOfHash> outputs_;
  std::unordered_set<Hash, HashOfHash> protected_;  // files below the directory that are not outputs
  std::string last_folder_, last_canonical_;        // to resolve each folder once
};

}  // namespace gpuaes
