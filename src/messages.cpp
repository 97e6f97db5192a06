#include "messages.hpp"

#include <unistd.h>

namespace gpuaes {
namespace {

// Names of files may hold anything: no line feed makes two lines of one, and no escape sequence reaches a
// terminal.
std::string printable(std::string text) {
  unsigned char last = 0;
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool c1_control = last == 0xc2 && byte >= 0x80 && byte < 0xa0;  // in UTF-8
    if (byte < 0x20 || byte == 0x7f || c1_control) c = '?';
    last = byte;
  }
  return text;
}

}  // namespace

// One write a line, so that lines of several threads, and of the other programs of a pipeline, do not mix.
// Standard error may be closed or full: there is nobody left to tell.
void Messages::print(const char* kind, const std::string& text) const {
  const std::string line = program_ + ": " + kind + printable(text) + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

void Messages::error(const std::string& text) const {
  print("error: ", text);
}

void Messages::error(const Error& error) const {
  print("error: ", error.what());
  if (!error.hint().empty()) print("hint: ", error.hint());
}

void Messages::warning(const std::string& text) const {
  if (level_ != Level::quiet) print("warning: ", text);
}

void Messages::detail(const std::string& text) const {
  if (level_ == Level::verbose) print("", text);
}

}  // namespace gpuaes
