// Tables of constants, most with one row for each enumerator. Such a row has its enumerator as a member, and
// the enumeration has an alias `last` for its last enumerator, so a static_assert can detect a missing row.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace gpuaes {

// Whether each enumerator has its row, in order.
template <class Row, std::size_t count, class Enum>
constexpr bool has_row_for_each(const std::array<Row, count>& rows, Enum Row::*enumerator) {
  for (std::size_t i = 0; i < count; ++i)
    if (static_cast<std::size_t>(rows[i].*enumerator) != i) return false;
  return count == static_cast<std::size_t>(Enum::last) + 1;
}

// std::out_of_range if the value is not an enumerator.
template <class Row, std::size_t count, class Enum>
constexpr const Row& row_of(const std::array<Row, count>& rows, Enum enumerator) {
  return rows.at(static_cast<std::size_t>(enumerator));
}

template <class Row, std::size_t count>
std::vector<std::string_view> names_of(const std::array<Row, count>& rows) {
  std::vector<std::string_view> names;
  for (const Row& row : rows) names.push_back(row.name);
  return names;
}

}  // namespace gpuaes
