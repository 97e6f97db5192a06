#include "cli/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace gpuaes {
namespace {

constexpr std::string_view spaces = " \t\n", punctuation = "'\":,)";

// How much of a word may be shown; all of it unless it is an identity, of age or of one of its plugins, which
// the user may have given as a file name or an option.
std::size_t public_part(std::string_view word) {
  constexpr std::string_view anywhere = "-secret-key-", after_punctuation = "age-plugin-";
  std::string lower(word);
  std::ranges::transform(word, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::size_t begin = lower.find(after_punctuation);
  const char before = begin == 0 || begin == std::string::npos ? ' ' : lower[begin - 1];
  const bool is_plugin =
      begin != std::string::npos && before != '/' && std::isalnum(static_cast<unsigned char>(before)) == 0;
  if (is_plugin) return begin + after_punctuation.size();
  const std::size_t mark = lower.find(anywhere);
  return mark == std::string::npos ? word.size() : mark + anywhere.size();
}

std::string without_secrets(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = std::min(text.find_first_not_of(spaces, at), text.size());
    const std::size_t end = std::min(text.find_first_of(spaces, begin), text.size());
    const std::string_view whole = text.substr(begin, end - begin);
    const std::string_view word = whole.substr(0, whole.find_last_not_of(punctuation) + 1);
    const std::size_t size = public_part(word);
    shown.append(text.substr(at, begin - at)).append(word.substr(0, size));
    shown.append(size < word.size() ? "..." : "").append(whole.substr(word.size()));
    at = end;
  }
  return shown;
}

// The text with the name of the file that it is about, unless that is empty.
std::string about(const std::string& name, const std::string& text) {
  return name.empty() ? text : fmt::format("{}: {}", name, text);
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

void Messages::input_warning(const std::string& text) const {
  warning(about(input_, text));
}

void Messages::note(const std::string& text) const {
  if (level_ != Level::quiet) print("", text);
}

void Messages::detail(const std::string& text) const {
  if (level_ >= Level::verbose) print("", about(one_of_several_, text));
}

void Messages::fine_detail(const std::string& text) const {
  if (level_ >= Level::very_verbose) print("", about(one_of_several_, text));
}

void Messages::report(const std::string& text) const {
  line_.try_print(program_ + ": " + printable(text));
}

}  // namespace gpuaes
