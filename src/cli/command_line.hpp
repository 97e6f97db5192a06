// Boost.Program_options, with what is not understood told as a UsageError.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace gpuaes {

struct CommandLine {
  boost::program_options::variables_map given;
  std::vector<std::string> words;  // that are no options, nor values of any
};

// `argv` begins with the program's name, or what stands for it. UsageError; so are more words than
// `max_words`.
CommandLine parse_command_line(int argc, const char* const* argv,
                               const boost::program_options::options_description& options,
                               std::size_t max_words = 0);

}  // namespace gpuaes
