// Tables with one row for each enumerator. A row has its enumerator as a member. The enumeration has an alias
// `last` for its last enumerator, so a static_assert can detect a missing row.
#pragma once

#include <array>
#include <cstddef>

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

}  // namespace gpuaes
