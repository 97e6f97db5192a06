#include "cli/suggestions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace gpuaes {
namespace {

// The number of letters to insert, delete, replace or exchange with the next one to turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& edits = table[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      const std::size_t replaced = a[i - 1] == b[j - 1] ? 0 : 1;
      edits = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits = std::min(edits, table[i - 2][j - 2] + 1);
    }
  return table.back().back();
}

// Options of other programs, the options that do the same, and what to show.
struct OtherName {
  std::string_view word, option, shown;
};
constexpr std::array other_names{
    OtherName{"identity", "key", "key"},
    OtherName{"verify", "test", "test"},
    OtherName{"dry-run", "test", "test, which decrypts and writes nothing"},
    OtherName{"gpu", "lanes", "lanes cuda"},
    OtherName{"threads", "lanes", "lanes cpu:N"},
    OtherName{"T", "lanes", "lanes cpu:N"},
    OtherName{"jobs", "lanes", "lanes cpu:N"},
    OtherName{"resume", "skip-existing", "output-dir with --skip-existing"},
    OtherName{"continue", "skip-existing", "output-dir with --skip-existing"},
    OtherName{"recursive", "output-dir", "output-dir"},
    OtherName{"pq", "post-quantum", "post-quantum"},
    OtherName{"pq", "recipient", "recipient, with a recipient from gpuaes-keygen --post-quantum"},
    OtherName{"post-quantum", "recipient", "recipient, with a recipient from gpuaes-keygen --post-quantum"}};

}  // namespace

std::string nearest_option(std::string_view word, std::span<const OptionText> options) {
  constexpr std::size_t same_letters = 4;
  std::string_view nearest;
  std::size_t fewest_edits = std::string::npos;
  const auto name_of = [](const OptionText& option) { return long_name(option.names); };
  for (const OtherName& other : other_names)
    if (other.word == word && std::ranges::count(options, other.option, name_of) > 0)
      return std::string(other.shown);
  for (const OptionText& option : options) {
    const std::string_view name = name_of(option);
    const std::size_t edits = edit_distance(word, name);
    const bool is_near = word.starts_with(name.substr(0, same_letters)) ||
                         edits <= std::max<std::size_t>(std::max(word.size(), name.size()) / 3, 1);
    if (!is_near || edits >= fewest_edits) continue;
    nearest = name;
    fewest_edits = edits;
  }
  return std::string(nearest);
}

}  // namespace gpuaes
