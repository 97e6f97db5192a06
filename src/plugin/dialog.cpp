#include "plugin/dialog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.hpp"
#include "base/unicode.hpp"
#include "keys/key.hpp"

namespace gpuaes {

std::string quoted(std::string_view text) {
  constexpr std::size_t max_bytes = 2000;
  std::string_view rest = text;
  while (!rest.empty() && text.size() - rest.size() < max_bytes) take_character(rest);
  std::string shown(text.substr(0, text.size() - rest.size()));
  std::ranges::replace(shown, '\n', ' ');
  std::ranges::replace(shown, '"', '\'');
  return fmt::format("\"{}{}\"", printable(shown), rest.empty() ? "" : "...");
}

void Dialog::show(std::string_view text) const {
  messages_.note(fmt::format("{} says {}", program_, quoted(text)));
}

void Dialog::report_silence() {
  if (!std::exchange(silence_reported_, true)) messages_.note(fmt::format("waiting for {}", program_));
}

std::optional<Secret> Dialog::ask(std::string_view text, Prompt::Answers answers) const {
  return ask_question(fmt::format("{} asks {}", program_, quoted(text)), answers);
}

std::optional<bool> Dialog::confirm(std::string_view text, std::string_view yes, std::string_view no) const {
  constexpr int attempts = 3;
  const std::string choices = no.empty() ? fmt::format("Enter for {}", quoted(yes))
                                         : fmt::format("1 for {}, 2 for {}", quoted(yes), quoted(no));
  const std::string question = fmt::format("{} asks {} ({})", program_, quoted(text), choices);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::optional<Secret> answer = ask_question(question, Prompt::Answers::open);
    if (!answer) return std::nullopt;
    const std::string_view line = as_text(answer->bytes());
    if (no.empty() || line == "1") return true;
    if (line == "2") return false;
  }
  return std::nullopt;
}

std::optional<Secret> Dialog::ask_question(const std::string& question, Prompt::Answers answers) const {
  if (!has_terminal()) {
    messages_.warning(fmt::format("{}, but there is no terminal", question));
    return std::nullopt;
  }
  Secret line(max_passphrase_bytes + 1);
  Prompt prompt(cancel_, answers);
  line.shrink(prompt.ask(question + ": ", line.bytes()));
  if (prompt.ended()) return std::nullopt;
  if (line.size() <= max_passphrase_bytes) return line;
  messages_.warning(fmt::format("the answer for {} is longer than {} bytes", program_, max_passphrase_bytes));
  return std::nullopt;
}

}  // namespace gpuaes
