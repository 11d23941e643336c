// Tables of text for a terminal or a pipe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sterna::launcher {

struct TableColumn {
  std::string title;
  bool right = false;    ///< numbers
  std::size_t wrap = 0;  ///< a longer cell goes on below, broken after ", "; 0: never
  int priority = 0;      ///< as ColumnSize has it
};

struct ColumnSize {
  std::size_t width = 0;
  int priority =
      0;  ///< where there is no room the highest go first, those of one together; 0: stays
};

/// Which columns a line of `width` has room for, two blanks between them: their indices, in order.
std::vector<std::size_t> columns_that_fit(std::span<const ColumnSize> sizes, std::size_t width);

constexpr std::size_t kAnyWidth = static_cast<std::size_t>(-1);

/// The lines of a table: titles, then one or more per row, two blanks between columns. A row has a
/// cell per column. Columns with nothing but "" or "-" are left out, and those for which `width`
/// has no room. Cells are made printable().
std::vector<std::string> text_table(const std::vector<TableColumn>& columns,
                                    const std::vector<std::vector<std::string>>& rows,
                                    std::size_t width = kAnyWidth);

}  // namespace sterna::launcher
