// What an age plugin says to the user and asks. Its texts are quoted and printable.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/messages.hpp"
#include "io/cancel.hpp"
#include "keys/secret.hpp"
#include "process/terminal.hpp"

namespace gpuaes {

// The text between quotation marks on one line, with ' for those in it, shortened if it is very long.
std::string quoted(std::string_view text);

class Dialog {
 public:
  Dialog(std::string program, const Messages& messages, Cancel& cancel)
      : program_(std::move(program)), messages_(messages), cancel_(cancel) {}

  void show(std::string_view text) const;
  void report_silence();  // once

  // The answer on the terminal; none if there is no terminal, or the answer is ^D or longer than 1024 bytes.
  // IoError, Cancelled.
  std::optional<Secret> ask(std::string_view text, Prompt::Answers answers) const;

  // Whether the user chose `yes`, which is the only choice if `no` is empty. None if there is no terminal, or
  // no valid answer. IoError, Cancelled.
  std::optional<bool> confirm(std::string_view text, std::string_view yes, std::string_view no) const;

 private:
  std::optional<Secret> ask_question(const std::string& question, Prompt::Answers answers) const;

  std::string program_;
  const Messages& messages_;
  Cancel& cancel_;
  bool silence_reported_ = false;
};

}  // namespace gpuaes
