// What was built: for -V, and for reports of errors.
#pragma once

#include <string>
#include <string_view>

namespace gpuaes {

std::string_view version();  // such as 1.2.3

// Lines with the version and the commit, the version of libcrypto in use, and the GPU architectures that the
// program has code for. `program` is its name.
std::string version_text(std::string_view program);

}  // namespace gpuaes
