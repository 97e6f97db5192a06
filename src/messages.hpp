// What a program says, all of it on standard error, in one voice: "gpuaes-stream: error: ...", lower case, no
// full stop. From any thread.
#pragma once

#include <string>
#include <utility>

#include "error.hpp"

namespace gpuaes {

class Messages {
 public:
  enum class Level { quiet, normal, verbose };  // errors only; warnings too; what is being done too

  explicit Messages(std::string program) : program_(std::move(program)) {}

  void set_level(Level level) { level_ = level; }

  void error(const std::string& text) const;
  void error(const Error& error) const;  // with its hint
  void warning(const std::string& text) const;
  void detail(const std::string& text) const;

 private:
  void print(const char* kind, const std::string& text) const;

  std::string program_;
  Level level_ = Level::normal;
};

}  // namespace gpuaes
