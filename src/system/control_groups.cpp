#include "system/control_groups.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gpuaes {

std::string contents_of(const std::string& name) {
  std::string text;
  char piece[4096];
  const int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  for (ssize_t size; (size = read(fd, piece, sizeof piece)) > 0;)
    text.append(piece, static_cast<std::size_t>(size));
  close(fd);
  return text;
}

// Lines of /proc/self/cgroup: "0::/path" for version 2, and "4:cpu,cpuacct:/path" for 1.
std::vector<ControlGroup> control_groups(std::string_view controller) {
  std::vector<ControlGroup> found;
  const std::string groups = contents_of("/proc/self/cgroup");
  std::size_t begin = 0;
  for (std::size_t end; (end = groups.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string line = groups.substr(begin, end - begin);
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const bool v1 = controllers.find(fmt::format(",{},", controller)) != std::string::npos;
    if (!v1 && controllers != ",,") continue;
    const std::string mount = v1 ? fmt::format("/sys/fs/cgroup/{}", controller) : "/sys/fs/cgroup";
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    for (;; path.erase(path.rfind('/'))) {
      found.push_back({mount + path, v1});
      if (path.find('/') == std::string::npos) break;
    }
  }
  return found;
}

}  // namespace gpuaes
