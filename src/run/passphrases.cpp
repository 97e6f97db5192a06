#include "run/passphrases.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <span>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "base/unicode.hpp"
#include "keys/kdf.hpp"
#include "keys/key.hpp"
#include "process/child_process.hpp"
#include "process/terminal.hpp"
#include "run/secrets.hpp"

namespace gpuaes {
namespace {

constexpr unsigned attempts = 3;

// The first line of `contents`.
Secret read_line(std::span<const std::byte> contents, const std::string& name, const Messages& messages) {
  Secret passphrase = parse_passphrase(contents, name);
  if (passphrase.bytes().back() == std::byte{'\r'})
    messages.warning(
        fmt::format("the passphrase from {} ends with a carriage return, which is part of it; "
                    "Windows programs write one before each newline",
                    name));
  for (const ByteOrderMark& mark : byte_order_marks)
    if (as_text(passphrase.bytes()).starts_with(mark.bytes))
      messages.warning(
          fmt::format("the passphrase from {} begins with a {} byte order mark, which is part of it; "
                      "Windows programs write one before text",
                      name, mark.encoding));
  return passphrase;
}

// Ample for the entries of password managers, whose first line is the password.
constexpr std::size_t max_command_output_bytes = 64 << 10;

// Asks `question` after `complaint`, unless that is empty.
Secret ask(Prompt& prompt, const std::string& complaint, const std::string& question) {
  Secret line(max_passphrase_bytes + 1);
  line.shrink(
      prompt.ask(complaint.empty() ? question : fmt::format("{}\n{}", complaint, question), line.bytes()));
  return line;
}

}  // namespace

Secret ask_new_passphrase(const std::string& question, Cancel& cancel) {
  Prompt prompt(cancel);
  for (unsigned attempt = 0; attempt < attempts; ++attempt) {
    const Secret line = ask(prompt, attempt > 0 ? "the passphrases do not match" : "", question);
    Secret passphrase = parse_passphrase(line.bytes(), "the terminal");
    if (is_equal(passphrase.bytes(), ask(prompt, "", "Confirm passphrase: ").bytes())) return passphrase;
  }
  throw UsageError("the passphrases do not match");
}

AskPassphrase ask_passphrase(Cancel& cancel) {
  struct State {
    std::optional<Secret> last;
    unsigned asked = 0;  // for this input
  };
  return [state = std::make_shared<State>(), &cancel](const std::string& input,
                                                      bool again) -> std::optional<Secret> {
    if (!again) {
      state->asked = 0;
      if (state->last) return state->last->copy();
    }
    if (state->asked == attempts) return std::nullopt;
    const std::string question =
        input.empty() ? "Enter passphrase: " : fmt::format("Enter passphrase for {}: ", printable(input));
    std::string complaint = again ? "the passphrase does not open the input" : "";
    Prompt prompt(cancel);
    for (;;) {
      ++state->asked;
      try {
        state->last = parse_passphrase(ask(prompt, complaint, question).bytes(), "the terminal");
        return state->last->copy();
      } catch (const UsageError& error) {
        if (state->asked == attempts) throw;
        complaint = error.what();
      }
    }
  };
}

// Reads byte by byte: the bytes after the line may be the input, and may not arrive for a long time.
Secret read_passphrase(FdSource file, const Messages& messages) {
  Secret line(max_passphrase_bytes + 1);
  std::size_t size = 0;
  while (size < line.size() && file.read(line.bytes().subspan(size, 1)) == 1 &&
         line.bytes()[size] != std::byte{'\n'})
    ++size;
  return read_line(line.bytes().first(size), file.name(), messages);
}

Secret run_passphrase_command(const std::string& command, const char* option, const Messages& messages,
                              Cancel& cancel) {
  ChildProcess process({.words = {"/bin/sh", "-c", command}, .name = option}, cancel);
  FdSource source = process.output();
  try {
    process.start();
    const Secret output = read_up_to(max_command_output_bytes + 1, source);
    if (output.size() <= max_command_output_bytes) return read_line(output.bytes(), source.name(), messages);
  } catch (const IoError& error) {
    throw UsageError(error.what(), error.hint());
  }
  throw UsageError(fmt::format("{} is longer than {} bytes", source.name(), max_command_output_bytes));
}

}  // namespace gpuaes
