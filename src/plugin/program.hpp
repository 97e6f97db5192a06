// Finds the programs of age plugins.
#pragma once

#include <string>

namespace gpuaes {

// The name of the program of a plugin: age-plugin-NAME.
std::string program_name(const std::string& plugin);

// The absolute path of that program: the first executable file in PATH. Skips entries of PATH that are empty
// or relative, since anyone who can write to the current directory could put a program there. PluginError if
// it is not found.
std::string find_program(const std::string& plugin);

}  // namespace gpuaes
