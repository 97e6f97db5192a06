// The control groups (cgroups(7)) that hold this process, for what they limit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpuaes {

struct ControlGroup {
  std::string directory;  // where its files are, if it is there
  bool v1 = false;
};

// Our own group, and those above it, up to the root, of a controller as version 1 names it ("cpu", "memory"),
// and of version 2, which has all controllers in one. In a container a path may not exist below the mount,
// but the root then is ours.
std::vector<ControlGroup> control_groups(std::string_view controller);

// All that is in a file, nothing where there is none. By bare calls: with streams for so many small files,
// looking took 0.2 ms of a start of 4.
std::string contents_of(const std::string& name);

}  // namespace gpuaes
