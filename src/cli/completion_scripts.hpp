// The completion script of each shell, for completions.cpp.
#pragma once

#include <string>
#include <string_view>

#include "cli/completions.hpp"

namespace gpuaes {

std::string bash_completions(const CompletedProgram& program);
std::string zsh_completions(const CompletedProgram& program);
std::string fish_completions(const CompletedProgram& program);

// What a shell offers for an argument.
enum class ArgumentKind { nothing, words, files, files_after_at };

ArgumentKind kind_of(const OptionText& option);

// The words of ArgumentKind::words, separated by spaces.
std::string words_of(const OptionText& option);

// In single quotes, as all three shells accept them.
std::string quote(std::string_view text);

}  // namespace gpuaes
