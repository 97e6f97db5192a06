#include "plugin/program.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/text.hpp"
#include "keys/plugin.hpp"

namespace gpuaes {
namespace {

bool is_program(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string program_name(const std::string& plugin) {
  return "age-plugin-" + plugin;
}

std::string find_program(const std::string& plugin) {
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path != nullptr ? path : "", ':')) {
    const std::string found = fmt::format("{}/{}", folder, program_name(plugin));
    if (folder.starts_with('/') && is_program(found)) return found;
  }
  throw PluginError(fmt::format("{} is not installed", program_name(plugin)),
                    "install it in a directory listed in PATH by its absolute path");
}

}  // namespace gpuaes
