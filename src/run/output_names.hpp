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
  // Outputs are in `directory`. `ending` is what their names have in addition to those of inputs; if it is
  // empty, inputs have one of `endings`, and outputs do not.
  OutputNames(std::string_view directory, std::string ending);

  // The path of the output for an input, below the directory. UsageError if it could be outside; IoError if
  // the input has the wrong ending.
  std::string path_for(const std::string& input) const;

  // The same, once for each input. UsageError also if another input has the same output, or if the input is
  // the output of another one. Names of directories are compared as texts.
  std::string add(const std::string& input);

  // UsageError if the input is an output.
  void refuse_output(const std::string& input) const;

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

  std::string directory_, ending_;
  std::unordered_set<Hash, HashOfHash> outputs_;
};

}  // namespace gpuaes
