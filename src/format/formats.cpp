#include <array>

#include "format/format.hpp"
#include "format/raw.hpp"

namespace gpuaes {
namespace {

// The list. To add a format: its line here and its own file.
constexpr std::array formats{
    Format{"raw", false, open_raw},
};

}  // namespace

const Format* find_format(std::string_view name) {
  for (const Format& format : formats)
    if (format.name == name) return &format;
  return nullptr;
}

std::string format_names() {
  std::string names;
  for (const Format& format : formats) names.append(names.empty() ? "" : ", ").append(format.name);
  return names;
}

}  // namespace gpuaes
