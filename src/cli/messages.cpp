#include "cli/messages.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace gpuaes {
namespace {

// Hides identities, which the user may have given as a file name or an option.
std::string without_secrets(std::string text) {
  constexpr std::string_view mark = "-secret-key-1";
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  const auto same = [&](unsigned char a, unsigned char b) { return lower(a) == b; };
  for (auto at = text.begin();;) {
    at = std::search(at, text.end(), mark.begin(), mark.end(), same);
    if (at == text.end()) return text;
    at += mark.size();
    const auto end = std::find_if_not(at, text.end(), [](unsigned char c) { return std::isalnum(c); });
    at = text.erase(at, end);
    at = text.insert(at, 3, '.');
  }
}

}  // namespace

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

void Messages::print(const char* kind, const std::string& text) const {
  line_.print(program_ + ": " + kind + printable(without_secrets(text)));
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

void Messages::note(const std::string& text) const {
  if (level_ != Level::quiet) print("", text);
}

void Messages::detail(const std::string& text) const {
  if (level_ >= Level::verbose) print("", text);
}

void Messages::fine_detail(const std::string& text) const {
  if (level_ >= Level::very_verbose) print("", text);
}

void Messages::report(const std::string& text) const {
  line_.try_print(program_ + ": " + printable(text));
}

}  // namespace gpuaes
